// Writes the methods of an assembly, its call instructions and its overrides, one row a line, from the bytecode and its debug symbols.
//
//   M  id  type  name  type parameters  parameters  abstract|-  file  line
//   E  caller  callee  instruction  file  line  column  certain|open
//   O  member  base
//   V  caller  type  file  line
//
// `V` is a value type that is made without a call of a constructor.
// The callee of a virtual call is the override that the static type of the receiver has: the bytecode names the first declaration
// only. The receiver is found by a walk backwards over the stack; where that ends at a branch the row is `open`.

using System;
using System.Collections.Generic;
using System.Linq;
using Mono.Cecil;
using Mono.Cecil.Cil;

static class Dump
{
    static readonly Dictionary<MethodDefinition, List<MethodDefinition>> bases = new Dictionary<MethodDefinition, List<MethodDefinition>>();
    static ModuleDefinition module;

    static void Main(string[] arguments)
    {
        var symbols = new Mono.Cecil.Mdb.MdbReaderProvider();
        module = ModuleDefinition.ReadModule(arguments[0], new ReaderParameters { ReadSymbols = true, SymbolReaderProvider = symbols });
        var types = module.GetTypes().ToList();
        foreach (var method in types.SelectMany(type => type.Methods))
            bases[method] = Bases(method).Distinct().ToList();
        foreach (var method in types.SelectMany(type => type.Methods))
            Write(method);
    }

    static void Write(MethodDefinition method)
    {
        var point = Points(method).FirstOrDefault();
        var parameters = string.Join(";", method.Parameters.Select(parameter => parameter.ParameterType.FullName));
        Row("M", Id(method), method.DeclaringType.FullName, method.Name, method.GenericParameters.Count, parameters,
            method.HasBody ? "-" : "abstract", point == null ? "-" : point.Document.Url, point == null ? 0 : point.StartLine);
        foreach (var of in bases[method])
            Row("O", Id(method), Id(of));
        if (!method.HasBody)
            return;
        SequencePoint last = null;
        foreach (var instruction in method.Body.Instructions)
        {
            var here = method.DebugInformation.GetSequencePoint(instruction);
            if (here != null && !here.IsHidden)
                last = here;
            var made = instruction.OpCode.Code == Code.Initobj ? Resolve((TypeReference)instruction.Operand) : null;
            if (made != null && made.Module == module && last != null)
                Row("V", Id(method), made.FullName, last.Document.Url, last.StartLine);
            var callee = instruction.Operand as MethodReference;
            var target = callee == null ? null : Resolve(callee);
            if (target == null)
                continue;
            var certain = true;
            if (instruction.OpCode.Code == Code.Callvirt && target.IsVirtual)
            {
                var receiver = Receiver(method, instruction, callee.Parameters.Count);
                certain = receiver != null;
                if (certain)
                    target = Override(receiver, target);
            }
            if (target.Module != module)
                continue;
            Row("E", Id(method), Id(target), instruction.OpCode.Name, last == null ? "-" : last.Document.Url,
                last == null ? 0 : last.StartLine, last == null ? 0 : last.StartColumn, certain ? "certain" : "open");
        }
    }

    static IEnumerable<SequencePoint> Points(MethodDefinition method)
    {
        return method.HasBody ? method.DebugInformation.SequencePoints.Where(point => !point.IsHidden) : new SequencePoint[0];
    }

    static void Row(params object[] cells)
    {
        Console.WriteLine(string.Join("\t", cells));
    }

    static string Id(MethodDefinition method)
    {
        return method.MetadataToken.ToInt32().ToString("x");
    }

    static MethodDefinition Resolve(MethodReference method)
    {
        try { return method.Resolve(); }
        catch (AssemblyResolutionException) { return null; }
    }

    static TypeDefinition Resolve(TypeReference type)
    {
        try { return type == null || type is GenericParameter ? null : type.Resolve(); }
        catch (AssemblyResolutionException) { return null; }
    }

    // The methods of the module that a method overrides or implements, directly or not.
    static IEnumerable<MethodDefinition> Bases(MethodDefinition method)
    {
        foreach (var named in method.Overrides.Select(Resolve))
            if (named != null && named.Module == module)
                yield return named;
        if (!method.IsVirtual)
            yield break;
        var type = method.DeclaringType;
        if (!method.IsNewSlot)
            for (var up = Resolve(type.BaseType); up != null && up.Module == module; up = Resolve(up.BaseType))
                foreach (var other in up.Methods.Where(other => other.IsVirtual && Same(method, other)))
                    yield return other;
        for (var up = type; up != null && up.Module == module; up = Resolve(up.BaseType))
            foreach (var implemented in up.Interfaces.Select(one => Resolve(one.InterfaceType)))
                if (implemented != null && implemented.Module == module)
                    foreach (var other in implemented.Methods.Where(other => Same(method, other)))
                        yield return other;
    }

    static bool Same(MethodDefinition one, MethodDefinition other)
    {
        return one.Name == other.Name && one.Parameters.Count == other.Parameters.Count
            && one.GenericParameters.Count == other.GenericParameters.Count
            && one.Parameters.Zip(other.Parameters, (a, b) => Open(a.ParameterType) || Open(b.ParameterType)
                || a.ParameterType.FullName == b.ParameterType.FullName).All(same => same);
    }

    static bool Open(TypeReference type)
    {
        return type.ContainsGenericParameter;
    }

    static MethodDefinition Override(TypeReference receiver, MethodDefinition target)
    {
        if (target.DeclaringType.IsInterface)
            return target;
        var type = Resolve(receiver);
        for (; type != null && type != target.DeclaringType && type.Module == module; type = Resolve(type.BaseType))
            foreach (var method in type.Methods)
                if (method.IsVirtual && !method.IsNewSlot
                    && (target.Module == module ? bases[method].Contains(target) : Same(method, target)))
                    return method;
        return target;
    }

    // The static type of the receiver of a call: what the instruction pushed that is as many values below the top as the call takes.
    static TypeReference Receiver(MethodDefinition method, Instruction call, int depth)
    {
        var wanted = depth + 1;
        for (var at = call.Previous; at != null; at = at.Previous)
        {
            if (at.OpCode.FlowControl == FlowControl.Branch || at.OpCode.FlowControl == FlowControl.Cond_Branch)
                return null;
            if (at.OpCode.Code == Code.Dup && wanted == 1)
                continue;
            int pops = Pops(at), pushes = Pushes(at);
            if (pushes >= wanted)
                return TypeOf(method, at);
            wanted += pops - pushes;
        }
        return null;
    }

    static TypeReference TypeOf(MethodDefinition method, Instruction at)
    {
        var code = at.OpCode.Code;
        var called = at.Operand as MethodReference;
        if (code == Code.Newobj)
            return called.DeclaringType;
        if (called != null)
            return Closed(called.ReturnType, called);
        if (at.Operand is FieldReference)
            return ((FieldReference)at.Operand).FieldType;
        if (code == Code.Castclass || code == Code.Isinst || code == Code.Unbox_Any)
            return (TypeReference)at.Operand;
        if (at.Operand is VariableDefinition)
            return ((VariableDefinition)at.Operand).VariableType;
        if (at.Operand is ParameterDefinition)
            return ((ParameterDefinition)at.Operand).ParameterType;
        if (code >= Code.Ldloc_0 && code <= Code.Ldloc_3)
            return method.Body.Variables[code - Code.Ldloc_0].VariableType;
        if (code < Code.Ldarg_0 || code > Code.Ldarg_3)
            return null;
        var index = code - Code.Ldarg_0 - (method.HasThis ? 1 : 0);
        return index < 0 ? method.DeclaringType : method.Parameters[index].ParameterType;
    }

    // A result type that is a parameter of the type or method has the argument's type.
    static TypeReference Closed(TypeReference type, MethodReference called)
    {
        var parameter = type as GenericParameter;
        var provider = parameter == null ? null
            : (parameter.Type == GenericParameterType.Type ? called.DeclaringType as object : called) as IGenericInstance;
        return provider == null ? type : provider.GenericArguments[parameter.Position];
    }

    static int Pops(Instruction at)
    {
        var called = at.Operand as MethodReference;
        switch (at.OpCode.StackBehaviourPop)
        {
            case StackBehaviour.Pop0: return 0;
            case StackBehaviour.Pop1: case StackBehaviour.Popi: case StackBehaviour.Popref: return 1;
            case StackBehaviour.Varpop:
                return called == null ? 0 : called.Parameters.Count + (called.HasThis && at.OpCode.Code != Code.Newobj ? 1 : 0);
            case StackBehaviour.Popi_popi_popi: case StackBehaviour.Popref_popi_popi: case StackBehaviour.Popref_popi_popi8:
            case StackBehaviour.Popref_popi_popr4: case StackBehaviour.Popref_popi_popr8: case StackBehaviour.Popref_popi_popref: return 3;
            default: return 2;
        }
    }

    static int Pushes(Instruction at)
    {
        var called = at.Operand as MethodReference;
        switch (at.OpCode.StackBehaviourPush)
        {
            case StackBehaviour.Push0: return 0;
            case StackBehaviour.Push1_push1: return 2;
            case StackBehaviour.Varpush: return called == null || called.ReturnType.FullName == "System.Void" ? 0 : 1;
            default: return 1;
        }
    }
}
