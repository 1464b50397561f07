//! Functions of SQL that take SCIP symbols apart, and the table of callers that they make.

use std::sync::Arc;

use arrow::array::{Array as _, ArrayRef, AsArray as _, StringViewBuilder};
use arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::execution::FunctionRegistry as _;
use datafusion::logical_expr::{ColumnarValue, Expr, ScalarUDF, Volatility, create_udf};
use datafusion::prelude::{DataFrame, SessionContext, col};

use crate::symbol::{Symbol, parse};

type Part = fn(&Symbol<'_>) -> String;

/// Functions with what each takes of a symbol.
const PARTS: [(&str, Part); 5] = [
    ("symbol_name", |symbol| symbol.name.clone()),
    ("symbol_manager", |symbol| symbol.manager.to_owned()),
    ("symbol_package", |symbol| symbol.package.to_owned()),
    ("symbol_version", |symbol| symbol.version.to_owned()),
    ("symbol_descriptors", |symbol| symbol.descriptors.to_owned()),
];

/// Makes the functions known.
pub(crate) fn register(context: &SessionContext) {
    for (name, part) in PARTS {
        context.register_udf(function(name, part));
    }
}

fn function(name: &str, part: Part) -> ScalarUDF {
    let body = move |arguments: &[ColumnarValue]| {
        let symbols = match arguments.first() {
            Some(argument) => argument.to_array(1)?,
            None => return datafusion::common::exec_err!("a symbol is missing"),
        };
        let is_scalar = matches!(arguments.first(), Some(ColumnarValue::Scalar(_)));
        let parts: ArrayRef = Arc::new(parts_of(&symbols, part));
        if is_scalar {
            let value = datafusion::common::ScalarValue::try_from_array(&parts, 0)?;
            return Ok(ColumnarValue::Scalar(value));
        }
        Ok(ColumnarValue::Array(parts))
    };
    let text = DataType::Utf8View;
    create_udf(name, vec![text.clone()], text, Volatility::Immutable, Arc::new(body))
}

/// Part of each symbol; null for what is none. Equal neighbours are parsed once.
fn parts_of(symbols: &ArrayRef, part: Part) -> arrow::array::StringViewArray {
    let symbols = symbols.as_string_view();
    let mut parts = StringViewBuilder::with_capacity(symbols.len());
    let mut before: (Option<&str>, Option<String>) = (None, None);
    for symbol in symbols {
        if symbol.is_none() || symbol != before.0 {
            before = (symbol, symbol.and_then(parse).as_ref().map(part));
        }
        parts.append_option(before.1.as_deref());
    }
    parts.finish()
}

/// Calls with the parts of their callee, those of locals left out.
pub(crate) async fn callers(context: &SessionContext) -> Result<DataFrame> {
    let part = |name: &str, of: &str| -> Result<Expr> {
        Ok(context.udf(&format!("symbol_{of}"))?.call(vec![col("callee")]).alias(name))
    };
    let columns = vec![
        part("name", "name")?,
        part("manager", "manager")?,
        part("package", "package")?,
        part("descriptors", "descriptors")?,
        col("repository"),
        col("path"),
        col("line"),
        part("version", "version")?,
        col("caller"),
        col("verdict"),
    ];
    context.table("calls").await?.select(columns)?.filter(col("name").is_not_null())
}
