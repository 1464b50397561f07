//! Rendering of `trace`.

mod entry;
mod marks;
mod paths;
pub(crate) mod traced;
mod tree;
mod vague;

#[cfg(test)]
mod tests {
    use super::traced::Traced;
    use crate::answers::Answer;
    use crate::answers::budget::Page;
    use crate::answers::render::sources::Sources;
    use cograph_model::Verdict;
    use cograph_model::{Position, RepoPath, SiteKind, Step, SymbolKind, Visibility};
    use cograph_query::Total;
    use cograph_query::trace::{TraceEnd, TraceFinding, TraceLink, TraceNode, TraceTree};
    use cograph_query::{Certainty, Counts};
    use cograph_query::{SiteInfo, SymbolInfo, TraceParams, TraceResult};
    use cograph_store::SymbolKey;

    fn symbol(path: &str, container: &str, name: &str, line: u32) -> SymbolInfo {
        SymbolInfo {
            key: SymbolKey(line),
            path: RepoPath::new(path).expect("the paths of the test are well formed"),
            name: name.to_owned(),
            container: container.to_owned(),
            kind: SymbolKind::Method,
            language: "x".to_owned(),
            first_line: line,
            last_line: line + 20,
            name_at: Position { line, column: 4 },
            signature: format!("def {name}(self, request, *arguments)"),
            doc: "What it does.".to_owned(),
            visibility: Visibility::Public,
            flags: 0,
            references: 3,
        }
    }

    fn node(symbol: SymbolInfo, parent: Option<usize>, depth: u32, lines: &[u32]) -> TraceNode {
        let site = |&line: &u32| SiteInfo {
            path: symbol.path.clone(),
            at: Position { line, column: 8 },
            kind: SiteKind::Call,
            name: "target".to_owned(),
            verdict: Verdict::Resolved,
            step: Step::Import,
        };
        let sites = lines.iter().map(site).collect();
        TraceNode {
            end: TraceEnd::Symbol(Box::new(symbol)),
            parent,
            depth,
            link: TraceLink::Sites,
            through: None,
            certainty: Certainty::Certain,
            sites,
            in_tests: false,
            repeated: false,
            not_followed: Counts::default(),
        }
    }

    fn traced(nodes: Vec<TraceNode>, depth: u32) -> Traced {
        let total = nodes.len() as u64;
        let root_counts = Counts { certain: total, ..Counts::default() };
        let tree = TraceTree {
            nodes,
            is_list: false,
            total: Total::Exact(total),
            distinct: Total::Exact(total),
            root_counts,
            values: 0,
            other_uses: 0,
            by_directory: Vec::new(),
            not_followed: Vec::new(),
            ends: 0,
            first_ends: Vec::new(),
        };
        let root = symbol("src/package/module/base.x", "Container", "target", 10);
        let params = TraceParams { depth, ..TraceParams::default() };
        Traced {
            params,
            result: TraceResult {
                root,
                also: Vec::new(),
                to: None,
                also_to: 0,
                finding: TraceFinding::Tree(tree),
            },
            sources: Sources::default(),
        }
    }

    #[test]
    fn callers_are_dense() {
        let caller = |number: u32| {
            let path = format!("src/package/module_{}/handlers.x", number / 6);
            node(
                symbol(&path, "RequestHandler", &format!("handle_request_{number}"), number * 30),
                None,
                1,
                &[number * 30 + 7],
            )
        };
        let mut page = Page::new(1000);
        let head = traced((0..200).map(caller).collect(), 1).render(&mut page);
        let text = page.finish(&head);
        let shown = text.matches("handle_request_").count();
        assert!(text.len() <= 4000 && shown >= 45, "{shown} callers in {} bytes", text.len());
        assert!(
            head.starts_with(&format!(
                "{shown} of 200 callers of Container.target (src/package/module/base.x:10); call \
                 sites: 200"
            )) && text.contains(&format!("… {} more callers", 200 - shown))
        );
    }

    #[test]
    fn paths_and_names_are_written_whole() {
        let nodes = vec![
            node(symbol("src/package/module/base.x", "Container", "a", 50), None, 1, &[51, 52]),
            node(symbol("src/package/module/other.x", "C", "f", 1), None, 1, &[2]),
            node(symbol("src/package/module/other.x", "C", "g", 8), None, 1, &[9]),
        ];
        let mut page = Page::new(1000);
        let head = traced(nodes, 1).render(&mut page);
        let expected = "3 callers of Container.target (src/package/module/base.x:10)\n\
                        src/package/module/base.x: Container.a:51,52\n\
                        src/package/module/other.x: C.f:2, C.g:9";
        assert_eq!(page.finish(&head), expected);
    }

    #[test]
    fn what_dispatch_reaches_is_counted_next_to_what_is_named() {
        let through = symbol("src/package/interface.x", "Interface", "target", 3);
        let mut nodes = vec![node(symbol("src/a.x", "", "direct", 5), None, 1, &[6])];
        nodes.extend((0..100).map(|number| {
            let caller = symbol(&format!("src/file_{number}.x"), "Class", "caller", 7);
            let through = Some(Box::new(through.clone()));
            TraceNode { link: TraceLink::Dispatch, through, ..node(caller, None, 1, &[8]) }
        }));
        let mut page = Page::new(1000);
        let head = traced(nodes.clone(), 1).render(&mut page);
        let text = page.finish(&head);
        assert_eq!(
            text,
            "1 of 101 callers of Container.target (src/package/module/base.x:10); call sites: 101 \
             certain\nsrc/a.x: direct:6\n\
             … 100 more callers through Interface.target (src/package/interface.x:3)"
        );
        let mut page = Page::new(1000);
        let head = traced(nodes[..3].to_vec(), 1).render(&mut page);
        assert!(page.finish(&head).ends_with(
            "base.x:10)\nsrc/a.x: direct:6\n\
            src/file_0.x: by dispatch: Class.caller:8\n\
            src/file_1.x: by dispatch: Class.caller:8"
        ));
        let mut page = Page::new(1000);
        let head = traced(nodes.split_off(1), 1).render(&mut page);
        assert!(
            page.finish(&head).contains("\nby dispatch:\nsrc/file_0.x: Class.caller:8\n"),
            "alone they have the whole room"
        );
    }

    #[test]
    fn where_not_all_lines_fit_the_first_of_each_caller_are_listed() {
        let lines: Vec<u32> = (100..140).collect();
        let nodes: Vec<TraceNode> = (0..40)
            .map(|at| node(symbol("src/a.x", "C", &format!("caller_{at:02}"), 1), None, 1, &lines))
            .collect();
        let mut page = Page::new(500);
        let head = traced(nodes.clone(), 1).render(&mut page);
        let text = page.finish(&head);
        assert!(
            text.contains("src/a.x: C.caller_00:100,101 +38 more, C.caller_01:100,101 +38 more"),
            "{text}"
        );
        assert!(text.contains("C.caller_39:"), "{text}");
        let mut page = Page::new(5000);
        let head = traced(nodes, 1).render(&mut page);
        let text = page.finish(&head);
        assert!(text.contains("C.caller_39:100,101,102,") && !text.contains('+'), "{text}");
    }

    #[test]
    fn a_tree_stands_below_its_parents_with_whole_paths() {
        let nodes = vec![
            node(symbol("src/package/module/base.x", "", "a", 50), None, 1, &[51, 52]),
            node(symbol("src/b.x", "", "b", 1), None, 1, &[2]),
            node(symbol("src/b.x", "", "b2", 8), None, 1, &[9]),
            node(symbol("src/c.x", "C", "c", 7), Some(0), 2, &[8]),
        ];
        let mut page = Page::new(1000);
        let head = traced(nodes, 2).render(&mut page);
        let text = page.finish(&head);
        let tree = "\nsrc/package/module/base.x: a:51,52\n  src/c.x: C.c:8\nsrc/b.x: b:2, b2:9";
        assert!(text.ends_with(tree), "{text}");
    }
}
