<?php

declare(strict_types=1);

use ast\Node;
use Phan\AST\ContextNode;
use Phan\CodeBase;
use Phan\Language\Element\Clazz;
use Phan\Language\Element\FunctionInterface;
use Phan\Language\Element\Method;
use Phan\PluginV3;
use Phan\PluginV3\PluginAwarePostAnalysisVisitor;
use Phan\PluginV3\PostAnalyzeNodeCapability;

/**
 * A plugin of Phan that writes what the analysis knows of each call, a row of tab-separated fields each:
 *
 *   D file kind name line last-line start-line abstract     a definition
 *   E file line how target-file target-line flags           a call that leads to a definition; how: call, new, inherited (the constructor
 *                                                   of a construction) or ref
 *   U file line name why                                    a call without a known target
 *   O file line base-file base-line                         a method that overrides or implements another
 */
class EdgesPlugin extends PluginV3 implements PostAnalyzeNodeCapability
{
    /** @var resource */
    public static $out;

    public function __construct()
    {
        self::$out = fopen((string) getenv('EDGES_OUT'), 'w');
    }

    public static function getPostAnalyzeNodeVisitorClassName(): string
    {
        return EdgesVisitor::class;
    }

    /** @param string|int ...$fields */
    public static function row(...$fields): void
    {
        fwrite(self::$out, implode("\t", $fields) . "\n");
    }
}

class EdgesVisitor extends PluginAwarePostAnalysisVisitor
{
    public function visitClass(Node $node): void
    {
        $kinds = [ast\flags\CLASS_INTERFACE => 'interface', ast\flags\CLASS_TRAIT => 'trait', ast\flags\CLASS_ENUM => 'enum'];
        $kind = 'class';
        foreach ($kinds as $flag => $name) {
            $kind = $node->flags & $flag ? $name : $kind;
        }
        if (!($node->flags & ast\flags\CLASS_ANONYMOUS)) {
            $this->define($kind, $node, '');
        }
    }

    public function visitMethod(Node $node): void
    {
        $is_constructor = strcasecmp((string) $node->children['name'], '__construct') === 0;
        $this->define($is_constructor ? 'ctor' : 'method', $node, $node->children['stmts'] === null ? 'abstract' : '');
        $method = $this->context->getClassInScope($this->code_base)->getMethodByName($this->code_base, (string) $node->children['name']);
        try {
            $bases = $method->getOverriddenMethods($this->code_base);
        } catch (Exception $_) {
            $bases = [];
        }
        foreach ($bases as $base) {
            $place = $base->getFileRef();
            if (!$base->isPHPInternal() && !$base->isFakeConstructor()) {
                EdgesPlugin::row('O', $this->context->getFile(), $node->lineno, $place->getFile(), $place->getLineNumberStart());
            }
        }
    }

    public function visitFuncDecl(Node $node): void
    {
        $this->define('function', $node, '');
    }

    private function define(string $kind, Node $node, string $abstract): void
    {
        $attributes = $node->children['attributes'] ?? null;
        $start = $attributes instanceof Node ? min($attributes->lineno, $node->lineno) : $node->lineno;
        EdgesPlugin::row('D', $this->context->getFile(), $kind, $node->children['name'], $node->lineno, $node->endLineno, $start, $abstract);
    }

    public function visitCall(Node $node): void
    {
        $called = $node->children['expr'];
        if (!$called instanceof Node || $called->kind !== ast\AST_NAME) {
            $found = [];
            foreach ($this->classes($called) as $class) {
                if ($class->hasMethodWithName($this->code_base, '__invoke', true)) {
                    $found[] = $class->getMethodByName($this->code_base, '__invoke');
                }
            }
            $found = array_filter($found, static fn (Method $method): bool => !$method->isPHPInternal());
            $name = $called instanceof Node && $called->kind === ast\AST_VAR ? $called->children['name'] : '?';
            if ($found !== []) {
                $this->edge($node, 'call', $found);
            } else {
                $this->unknown($node, is_string($name) ? $name : '?', 'var');
            }
            return;
        }
        try {
            foreach ((new ContextNode($this->code_base, $this->context, $called))->getFunctionFromNode() as $function) {
                $this->edge($node, 'call', [$function]);
            }
        } catch (Exception $_) {
            $this->unknown($node, (string) $called->children['name'], 'undecided');
        }
    }

    public function visitMethodCall(Node $node): void
    {
        $this->member($node, $node->children['expr']);
    }

    public function visitNullsafeMethodCall(Node $node): void
    {
        $this->member($node, $node->children['expr']);
    }

    public function visitStaticCall(Node $node): void
    {
        $this->member($node, $node->children['class']);
    }

    public function visitNew(Node $node): void
    {
        $named = $node->children['class'];
        if ($named instanceof Node && $named->kind === ast\AST_CLASS) {
            return;
        }
        $is_name = $named instanceof Node && $named->kind === ast\AST_NAME;
        $classes = $this->classes($named);
        foreach ($classes as $class) {
            $constructor = $class->hasMethodWithName($this->code_base, '__construct', true)
                ? $class->getMethodByName($this->code_base, '__construct') : null;
            if (!$is_name) {
                $this->edge($node, 'ref', [$class]);
                continue;
            }
            $this->edge($node, 'new', [$class]);
            if ($constructor !== null && !$constructor->isFakeConstructor()) {
                $this->edge($node, 'inherited', [$constructor]);
            }
        }
        if ($classes === [] && !$is_name) {
            $this->unknown($node, '?', 'undecided');
        }
    }

    /** @param Node|string|int|float $receiver */
    private function member(Node $node, $receiver): void
    {
        $name = $node->children['method'];
        if (!is_string($name)) {
            $this->unknown($node, '?', 'undecided');
            return;
        }
        $found = [];
        foreach ($this->classes($receiver) as $class) {
            if ($class->hasMethodWithName($this->code_base, $name, true)) {
                $found[] = $class->getMethodByName($this->code_base, $name);
            }
        }
        if ($found === []) {
            $this->unknown($node, $name, 'undecided');
        } else {
            $this->edge($node, 'call', $found);
        }
    }

    /**
     * @param Node|string|int|float $node
     * @return list<Clazz>
     */
    private function classes($node): array
    {
        try {
            return (new ContextNode($this->code_base, $this->context, $node))
                ->getClassList(true, ContextNode::CLASS_LIST_ACCEPT_OBJECT_OR_CLASS_NAME, null, false);
        } catch (Exception $_) {
            return [];
        }
    }

    private function line(Node $node): int
    {
        $args = $node->children['args'] ?? null;
        return $args instanceof Node ? max($args->lineno, $node->lineno) : $node->lineno;
    }

    private function unknown(Node $node, string $name, string $why): void
    {
        EdgesPlugin::row('U', $this->context->getFile(), $this->line($node), $name, $why);
    }

    /** The method of a base that a comment describes again. */
    private function written(Method $method): ?Method
    {
        foreach ($method->getDefiningClass($this->code_base)->getAncestorFQSENList() as $name) {
            $base = $this->code_base->hasClassWithFQSEN($name) ? $this->code_base->getClassByFQSEN($name) : null;
            if ($base !== null && $base->hasMethodWithName($this->code_base, $method->getName(), true)) {
                $found = $base->getMethodByName($this->code_base, $method->getName());
                if (!$found->isFromPHPDoc()) {
                    return $found;
                }
            }
        }
        return null;
    }

    /** @param list<FunctionInterface|Clazz> $targets */
    private function edge(Node $node, string $how, array $targets): void
    {
        $args = $node->children['args'];
        $how = $args instanceof Node && $args->kind === ast\AST_CALLABLE_CONVERT ? 'ref' : $how;
        $places = [];
        foreach ($targets as $target) {
            if ($target instanceof Method && $target->isFromPHPDoc()) {
                $target = $this->written($target) ?? $target;
            }
            $place = $target->getFileRef();
            $is_inside = !$target->isPHPInternal() && !($target instanceof Method && $target->isFromPHPDoc());
            $places[$is_inside ? $place->getFile() . "\t" . $place->getLineNumberStart() : "-\t0"] = true;
        }
        foreach (array_keys($places) as $place) {
            EdgesPlugin::row('E', $this->context->getFile(), $this->line($node), $how, $place, count($places) > 1 ? 'ambiguous' : '');
        }
    }
}

return new EdgesPlugin();
