//! Treemap: rectangles whose areas are as weights, each nearly square (Bruls, Huizing, van Wijk).

/// Rectangle, in units of the area it lies in.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Rectangle {
    /// Left edge.
    pub x: f64,
    /// Upper edge.
    pub y: f64,
    /// Width.
    pub width: f64,
    /// Height.
    pub height: f64,
}

impl Rectangle {
    /// Area.
    pub fn area(&self) -> f64 {
        self.width * self.height
    }

    /// The rectangle without a border, wider at the top where `head` stands.
    pub fn inside(&self, border: f64, head: f64) -> Self {
        Self {
            x: self.x + border,
            y: self.y + head,
            width: (self.width - 2.0 * border).max(0.0),
            height: (self.height - head - border).max(0.0),
        }
    }
}

/// Divides an area among weights, which are sorted, the largest first; a weight of zero has no
/// area. The rectangles are in the order of the weights.
pub fn treemap(weights: &[u64], area: Rectangle) -> Vec<Rectangle> {
    let sum: f64 = weights.iter().map(|weight| *weight as f64).sum();
    let mut rectangles = Vec::with_capacity(weights.len());
    if sum <= 0.0 || area.area() <= 0.0 {
        rectangles.resize(weights.len(), Rectangle { width: 0.0, height: 0.0, ..area });
        return rectangles;
    }
    let scale = area.area() / sum;
    let sizes: Vec<f64> = weights.iter().map(|weight| *weight as f64 * scale).collect();
    let (mut rest, mut start) = (area, 0);
    while start < sizes.len() {
        let side = rest.width.min(rest.height);
        let mut end = start + 1;
        while end < sizes.len()
            && worst(&sizes[start..=end], side) <= worst(&sizes[start..end], side)
        {
            end += 1;
        }
        rest = lay_row(&sizes[start..end], rest, &mut rectangles);
        start = end;
    }
    rectangles
}

/// The largest quotient of the sides of the rectangles in a row along a side.
fn worst(row: &[f64], side: f64) -> f64 {
    let sum: f64 = row.iter().sum();
    let (least, most) = (row[row.len() - 1], row[0]);
    if least <= 0.0 || side <= 0.0 {
        return f64::INFINITY;
    }
    let (side, sum) = (side * side, sum * sum);
    (side * most / sum).max(sum / (side * least))
}

/// Lays a row along the shorter side; returns what is left.
fn lay_row(row: &[f64], rest: Rectangle, rectangles: &mut Vec<Rectangle>) -> Rectangle {
    let sum: f64 = row.iter().sum();
    let is_column = rest.width >= rest.height;
    let side = if is_column { rest.height } else { rest.width };
    let thickness = if side > 0.0 { sum / side } else { 0.0 };
    let mut offset = 0.0;
    for size in row {
        let length = if thickness > 0.0 { size / thickness } else { 0.0 };
        rectangles.push(if is_column {
            Rectangle { x: rest.x, y: rest.y + offset, width: thickness, height: length }
        } else {
            Rectangle { x: rest.x + offset, y: rest.y, width: length, height: thickness }
        });
        offset += length;
    }
    if is_column {
        let width = (rest.width - thickness).max(0.0);
        Rectangle { x: rest.x + thickness, width, ..rest }
    } else {
        let height = (rest.height - thickness).max(0.0);
        Rectangle { y: rest.y + thickness, height, ..rest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: Rectangle = Rectangle { x: 0.0, y: 0.0, width: 6.0, height: 4.0 };

    fn rounded(found: &[Rectangle]) -> Vec<[f64; 4]> {
        let round = |number: f64| (number * 100.0).round() / 100.0;
        found.iter().map(|r| [r.x, r.y, r.width, r.height].map(round)).collect()
    }

    #[test]
    fn the_example_of_the_paper() {
        assert_eq!(
            rounded(&treemap(&[6, 6, 4, 3, 2, 2, 1], AREA)),
            [
                [0.0, 0.0, 3.0, 2.0],
                [0.0, 2.0, 3.0, 2.0],
                [3.0, 0.0, 1.71, 2.33],
                [4.71, 0.0, 1.29, 2.33],
                [3.0, 2.33, 1.2, 1.67],
                [4.2, 2.33, 1.2, 1.67],
                [5.4, 2.33, 0.6, 1.67],
            ]
        );
    }

    #[test]
    fn areas_are_as_weights_and_nothing_overlaps_or_leaves_the_area() {
        let weights: Vec<u64> = (1..200).map(|n| (n * 7919) % 1009 + 1).collect();
        let mut weights = weights;
        weights.sort_unstable_by(|one, other| other.cmp(one));
        let found = treemap(&weights, AREA);
        let sum: u64 = weights.iter().sum();
        for (weight, one) in weights.iter().zip(&found) {
            let expected = *weight as f64 * AREA.area() / sum as f64;
            assert!((one.area() - expected).abs() < 1e-6, "{weight}: {one:?}");
            assert!(one.x >= -1e-9 && one.x + one.width <= AREA.width + 1e-9, "{one:?}");
            assert!(one.y >= -1e-9 && one.y + one.height <= AREA.height + 1e-9, "{one:?}");
        }
        for (at, one) in found.iter().enumerate() {
            for other in &found[at + 1..] {
                let x = (one.x + one.width).min(other.x + other.width) - one.x.max(other.x);
                let y = (one.y + one.height).min(other.y + other.height) - one.y.max(other.y);
                assert!(x < 1e-6 || y < 1e-6, "{one:?} and {other:?}");
            }
        }
    }

    #[test]
    fn nothing_has_no_area() {
        assert_eq!(treemap(&[], AREA), []);
        assert_eq!(rounded(&treemap(&[0, 0], AREA)), [[0.0; 4], [0.0; 4]]);
        let found = treemap(&[3, 0], AREA);
        assert!((found[0].area() - 24.0).abs() < 1e-9 && found[1].area() == 0.0, "{found:?}");
        assert_eq!(treemap(&[1], Rectangle::default())[0].area(), 0.0);
    }
}
