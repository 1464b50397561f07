# Records which methods of a project its own tests call, and from where. Loaded before the tests:
#
#   TRACE_ROOT=DIR TRACE_NAMES=FILE TRACE_OUT=PREFIX ruby -r./trace.rb TESTS
#
# TRACE_NAMES holds the names that the project defines, one a line. Rows: a call of a method that is defined below the root; of a
# method with such a name that is not (`outside`); the places of classes (`class`); overriding methods and what they override (`over`).
require "json"
require "set"

# Without this, calls of `size` or `==` are instructions and no events.
RubyVM::InstructionSequence.compile_option = { specialized_instruction: false }

module Tracer
  ROOT = File.join(File.realpath(ENV.fetch("TRACE_ROOT")), "")
  NAMES = File.readlines(ENV.fetch("TRACE_NAMES"), chomp: true).to_h { |name| [name.to_sym, true] }
  NAME = Module.instance_method(:name)
  ROWS = {}
  GENERATED = {}

  class << self
    def inside(path)
      path.delete_prefix(ROOT) if path.is_a?(String) && path.start_with?(ROOT)
    end

    def method(point)
      file = inside(point.path)
      return unless file || NAMES[point.callee_id]

      place = caller_locations(3, 1)&.first
      caller = place && inside(place.absolute_path || place.path)
      return unless caller

      row = [caller, place.lineno, point.callee_id, file, file && point.lineno, point.method_id]
      ROWS[row] ||= true
    end

    def generated(point)
      name = point.method_id
      caller = inside(point.path)
      return unless caller && (name == :new || NAMES[name])
      return constructed(point, caller) if name == :new

      owner = point.defined_class
      file, line = (GENERATED[[owner, name]] ||= owner.instance_method(name).source_location || [nil, nil])
      file = inside(file)
      ROWS[[caller, point.lineno, name, file, file && line, name]] ||= true
    end

    def constructed(point, caller)
      type = point.self
      return unless Class === type

      ROWS[[caller, point.lineno, :new, :new, NAME.bind_call(type), :new]] ||= true
    end

    def finish
      File.open("#{ENV.fetch('TRACE_OUT')}.#{Process.pid}", "w") do |out|
        ROWS.each_key do |caller, line, called, file, at, name|
          row = { caller: caller, line: line, called: called }
          row.update(file == :new ? { type: at } : file ? { file: file, at: at, name: name } : { outside: true })
          out.puts(JSON.generate(row))
        end
        types(out)
      end
    end

    def types(out)
      seen = Set.new
      ObjectSpace.each_object(Module) do |type|
        next if type.singleton_class?

        name = NAME.bind_call(type)
        file, line = name && begin Object.const_source_location(name) rescue NameError end
        file = inside(file)
        out.puts(JSON.generate({ class: name, file: file, at: line })) if file
        overrides(out, type, seen)
        overrides(out, type.singleton_class, seen)
      end
    end

    def overrides(out, type, seen)
      (type.instance_methods(false) + type.private_instance_methods(false)).each do |name|
        file, line = type.instance_method(name).source_location
        next unless (file = inside(file))

        line_of = type.ancestors.drop_while { |base| base != type }.drop(1)
        base = line_of.find { |other| own?(other, name) && inside(other.instance_method(name).source_location&.first) }
        next unless base

        base_file, base_line = base.instance_method(name).source_location
        row = { over: name, file: file, at: line, base_file: inside(base_file), base_at: base_line }
        out.puts(JSON.generate(row)) if row[:file] && seen.add?(row)
      end
    end

    def own?(type, name)
      type.method_defined?(name, false) || type.private_method_defined?(name, false)
    end
  end

  POINT = TracePoint.new(:call, :c_call) { |point| point.event == :call ? method(point) : generated(point) }
end

at_exit do
  # Tests run at exit as well, after this block was set: the last one to run is the first one set.
  Tracer::POINT.disable
  Tracer.finish
end
Tracer::POINT.enable
