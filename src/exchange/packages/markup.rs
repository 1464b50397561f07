//! Project files in XML: the package that one makes, and those that it refers to. Elements are
//! found by their names, wherever they are; conditions are not evaluated.

use super::content::{Manifest, folded, is_version, without_doubles};

/// Reads a project file with this name.
pub(super) fn manifest(file: &str, text: &str) -> Manifest {
    let text = without_comments(text);
    let mut manifest = Manifest::default();
    let project = file.strip_suffix(".csproj");
    if let Some(stem) = project {
        let names = ["PackageId", "AssemblyName"].into_iter();
        let own = names.filter_map(|name| content(&text, name)).find(|own| !own.contains('$'));
        manifest.name = own.unwrap_or(stem).to_owned();
        let versions = ["PackageVersion", "Version", "VersionPrefix"].into_iter();
        let own = versions.filter_map(|name| content(&text, name)).find(|own| is_version(own));
        manifest.version = own.unwrap_or_default().to_owned();
    }
    let mut versions: Vec<(String, String)> = Vec::new();
    for (element, key) in
        [("PackageReference", "Include"), ("PackageVersion", "Include"), ("package", "id")]
    {
        for (attributes, inner) in elements(&text, element) {
            let Some(name) = attribute(attributes, key) else { continue };
            let version = attribute(attributes, "Version")
                .or_else(|| attribute(attributes, "version"))
                .or_else(|| content(inner, "Version"))
                .unwrap_or_default();
            if is_version(version) {
                versions.push((folded(name), version.to_owned()));
            }
            manifest.needs.insert(name.to_owned(), version.to_owned());
        }
    }
    for (attributes, _) in elements(&text, "ProjectReference") {
        let path = attribute(attributes, "Include").unwrap_or_default();
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
        if let Some(name) = name.strip_suffix(".csproj") {
            manifest.needs.entry(name.to_owned()).or_default();
        }
    }
    manifest.versions = without_doubles(versions.into_iter());
    manifest
}

fn without_comments(text: &str) -> String {
    let (mut kept, mut rest) = (String::new(), text);
    while let Some((before, comment)) = rest.split_once("<!--") {
        kept.push_str(before);
        rest = comment.split_once("-->").map_or("", |(_, after)| after);
    }
    kept.push_str(rest);
    kept
}

/// Attributes of the elements with a name, and the text up to their ends.
fn elements<'t>(text: &'t str, name: &str) -> impl Iterator<Item = (&'t str, &'t str)> {
    let (start, end) = (format!("<{name}"), format!("</{name}>"));
    let starts: Vec<usize> = text.match_indices(&start).map(|(at, _)| at).collect();
    starts.into_iter().filter_map(move |at| {
        let rest = &text[at + start.len()..];
        let is_whole = rest.starts_with(|letter: char| letter.is_whitespace() || letter == '>');
        let (attributes, inner) = rest.split_once('>').filter(|_| is_whole)?;
        let inner = match attributes.ends_with('/') {
            true => "",
            false => inner.split_once(&end).map_or("", |(inner, _)| inner),
        };
        Some((attributes, inner))
    })
}

/// Text of the first element with a name.
fn content<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    elements(text, name).map(|(_, inner)| inner.trim()).find(|inner| !inner.is_empty())
}

fn attribute<'t>(attributes: &'t str, name: &str) -> Option<&'t str> {
    let mut places = attributes.match_indices(name).map(|(at, _)| at);
    places.find_map(|at| {
        let is_start = attributes[..at].ends_with(char::is_whitespace);
        let rest = attributes[at + name.len()..].trim_start().strip_prefix('=')?.trim_start();
        let rest = rest.strip_prefix('"').filter(|_| is_start)?;
        Some(rest.split_once('"')?.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_project_makes_a_package_and_refers_to_others() {
        let text = "<Project>\n  <PropertyGroup>\n    <!-- <PackageId>Old</PackageId> -->\n    \
            <AssemblyName>Acme.Greet</AssemblyName>\n    <Version>1.2.0</Version>\n  \
            </PropertyGroup>\n  <ItemGroup>\n    \
            <PackageReference Include=\"Other.One\" Version=\"2.0.1\" />\n    \
            <PackageReference Include=\"Other.Two\">\n      <Version>[3,4)</Version>\n    \
            </PackageReference>\n    <ProjectReference Include=\"..\\\\More\\\\More.csproj\" />\n";
        let found = manifest("Greet.csproj", text);
        assert_eq!((found.name.as_str(), found.version.as_str()), ("Acme.Greet", "1.2.0"));
        let needs: Vec<&str> = found.needs.keys().map(String::as_str).collect();
        assert_eq!(needs, ["More", "Other.One", "Other.Two"]);
        assert_eq!(found.versions.get("other-one").map(String::as_str), Some("2.0.1"));
        assert_eq!(found.versions.len(), 1);
        let found = manifest("Plain.csproj", "<Project><PropertyGroup/></Project>");
        assert_eq!(found.name, "Plain");
        let found = manifest("packages.config", "<package id=\"A.B\" version=\"1.0.0\" />");
        assert_eq!((found.name.as_str(), found.versions.len()), ("", 1));
    }
}
