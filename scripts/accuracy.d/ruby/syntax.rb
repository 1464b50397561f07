# Writes the definitions and the call nodes of Ruby files as JSON lines, from the syntax tree of the interpreter itself.
#
#   ruby syntax.rb ROOT < LIST_OF_PATHS > OUT
#
# {"def": ..}: methods, classes, modules, and what attr_*, alias and define_method name in place; {"call": ..}: name and lines of a call.
require "json"

ATTRIBUTES = %i[attr attr_reader attr_writer attr_accessor].freeze
CALLS = { CALL: 1, QCALL: 1, OPCALL: 1, ATTRASGN: 1, FCALL: 0, VCALL: 0 }.freeze

class Reader
  def initialize(root, path)
    @path = path
    @text = File.read(File.join(root, path))
  end

  def read
    visit(RubyVM::AbstractSyntaxTree.parse(@text), [], false)
  rescue SyntaxError
    warn "#{@path}: does not parse"
  end

  private

  def visit(node, types, singleton)
    return node.each { |child| visit(child, types, singleton) } if node.is_a?(Array)
    return unless node.is_a?(RubyVM::AbstractSyntaxTree::Node)

    case node.type
    when :CLASS, :MODULE then return type(node, types)
    when :SCLASS
      visit(node.children[0], types, singleton)
      return visit(node.children[1], types, true)
    when :DEFN then method(node, node.children[0], types, singleton)
    when :DEFS then method(node, node.children[1], types, true)
    when :ALIAS then aliased(node, *node.children.map { |child| symbol(child) }, types)
    when :CDECL then made(node, types)
    when :ITER then defined(node, types)
    when :SUPER, :ZSUPER then call(node, "super")
    end
    if (at = CALLS[node.type])
      called(node, node.children[at], types)
    end
    node.children.each { |child| visit(child, types, singleton) }
  end

  def type(node, types)
    path = constant(node.children[0])
    kind = node.type == :CLASS ? "class" : "module"
    definition(node, path.split("::").last, kind, types, path: (types + [path]).join("::"), base: base(node))
    node.children[1..].each { |child| visit(child, types + [path], false) }
  end

  def base(node)
    constant(node.children[1])&.split("::")&.last if node.type == :CLASS
  end

  def method(node, name, types, singleton)
    kind = types.empty? && !singleton ? "function" : "method"
    definition(node, name, name == :initialize && !singleton ? "ctor" : kind, types)
  end

  def made(node, types)
    name, value = node.children[0], node.children[-1]
    value = value.children[0] if value.is_a?(RubyVM::AbstractSyntaxTree::Node) && value.type == :ITER
    return unless name.is_a?(Symbol) && value.is_a?(RubyVM::AbstractSyntaxTree::Node) && value.type == :CALL && value.children[1] == :new
    return unless %w[Class Struct Module].include?(constant(value.children[0]))

    definition(node, name, "class", types, path: (types + [name]).join("::"))
  end

  def defined(node, types)
    call = node.children[0]
    return unless call.type == :FCALL && %i[define_method define_singleton_method].include?(call.children[0])

    name = arguments(call).map { |argument| symbol(argument) }.first
    definition(node, name, "method", types) if name
  end

  def called(node, name, types)
    call(node, name, constant(receiver(node))&.split("::")&.last)
    if node.type == :FCALL && ATTRIBUTES.include?(name)
      arguments(node).each { |argument| attribute(argument, types) }
    elsif node.type == :FCALL && name == :alias_method
      aliased(node, *arguments(node).map { |argument| symbol(argument) }, types)
    end
  end

  def attribute(argument, types)
    return unless (name = symbol(argument))

    definition(argument, name, "method", types, attribute: true)
  end

  def aliased(node, name, of, types)
    definition(node, name, "method", types, alias_of: of) if name && of
  end

  def receiver(node)
    %i[CALL QCALL].include?(node.type) ? node.children[0] : nil
  end

  def arguments(call)
    list = call.children[-1]
    list.is_a?(RubyVM::AbstractSyntaxTree::Node) && list.type == :LIST ? list.children.compact : []
  end

  def symbol(node)
    return unless node.is_a?(RubyVM::AbstractSyntaxTree::Node) && %i[LIT STR].include?(node.type)

    value = node.children[0]
    value.to_s if value.is_a?(Symbol) || value.is_a?(String)
  end

  def constant(node)
    return unless node.is_a?(RubyVM::AbstractSyntaxTree::Node)

    case node.type
    when :CONST then node.children[0].to_s
    when :COLON3 then node.children[0].to_s
    when :COLON2 then [constant(node.children[0]), node.children[1]].compact.join("::")
    end
  end

  def definition(node, name, kind, types, **more)
    place = { file: @path, line: node.first_lineno, end_line: node.last_lineno, in: types.join("::") }
    puts JSON.generate({ def: name.to_s, kind: kind, **place, **more })
  end

  def call(node, name, receiver = nil)
    puts JSON.generate({ call: name.to_s, file: @path, line: node.first_lineno, end_line: node.last_lineno, on: receiver })
  end
end

$stdin.each_line(chomp: true) { |path| Reader.new(ARGV[0], path).read }
