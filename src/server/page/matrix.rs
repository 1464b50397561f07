//! `matrix`: the dependencies between modules, in an order that shows cycles; and `uses`, the files
//! behind one of them. For the page.

use std::cmp::Reverse;
use std::sync::Arc;

use super::kept::KeptAnswers;
use crate::answers::Answer;
use crate::answers::budget::Page;
use crate::answers::reply::list;
use crate::base::escape::SafeLine;
use crate::jsonrpc::admission::Class;
use crate::tools::arguments::Arguments;
use crate::tools::tool::context::{Handler, QueryContext};
use crate::tools::tool::{HEAVY_DEADLINE, Parameter, Shape, Tool, common};
use cograph_page::{MatrixOrder, order};
use cograph_query::QueryError;
use cograph_query::overview::matrix::{FileUse, MatrixParams, MatrixResult, matrix, uses_between};
use serde_json::{Value, json};

/// Maximum number of rows.
pub(crate) const MAX_ROWS: usize = 60;
/// Maximum number of cells: those with most sites.
pub(crate) const MAX_CELLS: usize = 1200;
/// Maximum number of pairs of files behind a cell.
pub(crate) const MAX_USES: usize = 200;

const PATH: Parameter = Parameter::new("path", Shape::Text { most: 1024 }, "Only this directory");
const DEPTH: Parameter =
    Parameter::new("depth", Shape::Integer { least: 1, most: 20 }, "Levels of directories");

const TESTS: Parameter = Parameter::new("tests", Shape::Flag, "Test code too");

pub(crate) static TOOL: Tool = Tool {
    name: "matrix",
    title: "Dependency matrix",
    about: "Dependencies between modules, with cycles.",
    class: Class::Heavy,
    deadline: HEAVY_DEADLINE,
    hint: None,
    own: &[PATH, DEPTH, TESTS],
    output: None,
    handler: RUN,
};

pub(crate) static USES: Tool = Tool {
    name: "uses",
    title: "Uses between modules",
    about: "The files behind a dependency between modules.",
    class: Class::Heavy,
    deadline: HEAVY_DEADLINE,
    hint: None,
    own: &[
        PATH,
        DEPTH,
        TESTS,
        Parameter::new("from", Shape::Text { most: 1024 }, "Dependent module").required(),
        Parameter::new("to", Shape::Text { most: 1024 }, "Module depended on").required(),
    ],
    output: None,
    handler: RUN_USES,
};

const RUN: Handler = |arguments, context| run(arguments, context);
const RUN_USES: Handler = |arguments, context| run_uses(arguments, context);

static MATRICES: KeptAnswers<Matrix> = KeptAnswers::new();

/// Matrix in its order.
struct Matrix {
    result: MatrixResult,
    order: MatrixOrder,
}

/// Uses of files behind a cell.
struct Uses {
    files: Vec<FileUse>,
    total: u64,
}

fn params(arguments: &Arguments, limit: usize) -> MatrixParams {
    let path = common::directory(arguments.text("path").unwrap_or_default());
    let tests = arguments.flag("tests");
    MatrixParams { path, depth: common::depth(arguments, 0), tests, limit }
}

fn run(arguments: &Arguments, context: &QueryContext<'_>) -> Result<Box<dyn Answer>, QueryError> {
    let params = params(arguments, MAX_ROWS);
    let key = format!("{} {} {}", params.tests, params.depth, params.path);
    let ordered = MATRICES.of(context.snapshot.meta().identity, key, || {
        let result = matrix(context.snapshot, &params, context.cancel)?;
        let edges: Vec<(usize, usize, u64)> = result
            .cells
            .iter()
            .filter(|cell| cell.of_production > 0)
            .map(|cell| (cell.from, cell.to, cell.of_production))
            .collect();
        let order = order(result.modules.len(), &edges, &result.cycles);
        Ok(Matrix { result, order })
    })?;
    Ok(Box::new(ordered))
}

fn run_uses(
    arguments: &Arguments,
    context: &QueryContext<'_>,
) -> Result<Box<dyn Answer>, QueryError> {
    let ends = ["from", "to"].map(|name| arguments.text(name).unwrap_or_default());
    let params = params(arguments, MAX_USES);
    let (files, total) =
        uses_between(context.snapshot, &params, (ends[0], ends[1]), context.cancel)?;
    Ok(Box::new(Uses { files, total }))
}

impl Answer for Arc<Matrix> {
    fn render(&self, _page: &mut Page) -> String {
        format!("matrix of {}", SafeLine::new(&self.result.path, 300))
    }

    fn json(&self) -> Value {
        let mut row = vec![0; self.result.modules.len()];
        self.order.nodes.iter().enumerate().for_each(|(place, node)| row[*node] = place);
        let modules = list(&self.order.nodes, |&node| {
            let module = &self.result.modules[node];
            json!({
                "path": module.path, "files": module.files, "lines": module.lines,
                "uses": module.uses, "used_by": module.used_by, "cycle": self.order.cycle[node],
            })
        });
        let mut cells = self.result.cells.clone();
        cells.sort_by_key(|cell| (Reverse(cell.sites), cell.from, cell.to));
        let total = cells.len();
        cells.truncate(MAX_CELLS);
        let cells = list(&cells, |cell| {
            let cycle = self.order.cycle[cell.from];
            let is_in_cycle =
                cycle.is_some() && cycle == self.order.cycle[cell.to] && cell.of_production > 0;
            json!({
                "from": row[cell.from], "to": row[cell.to], "sites": cell.sites,
                "production": cell.of_production, "in_cycle": is_in_cycle,
            })
        });
        json!({
            "path": self.result.path,
            "depth": self.result.depth,
            "modules": modules,
            "module_total": self.result.total,
            "cells": cells,
            "cell_total": total,
            "cycles": self.result.cycles.len(),
        })
    }

    fn is_empty(&self) -> bool {
        self.result.modules.is_empty()
    }
}

impl Answer for Uses {
    fn render(&self, _page: &mut Page) -> String {
        format!("{} uses between files", self.total)
    }

    fn json(&self) -> Value {
        json!({
            "total": self.total,
            "files": list(&self.files, |one| json!({
                "from": one.from.as_str(), "to": one.to.as_str(), "sites": one.sites,
                "test": one.test,
            })),
        })
    }

    fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}
