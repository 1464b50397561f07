// The answers of a written page, with what they share written once (src/server/page/packed.rs).

/** A value: itself, or an array whose first item says what it is. */
export type Packed = null | boolean | number | string | Packed[];

export interface Shared {
  shapes: string[][];
  shared: Packed[];
}

/** Gives the value of what is packed. What several share is one object. */
export function unpacker({ shapes, shared }: Shared): (packed: Packed) => unknown {
  const known: unknown[] = [];
  const unpack = (packed: Packed): unknown => {
    if (!Array.isArray(packed)) return packed;
    const tag = packed[0] as number;
    if (tag < 0) {
      const at = -tag - 1;
      return (known[at] ??= unpack(shared[at]!));
    }
    const values = packed.slice(1).map(unpack);
    return tag === 0 ? values : Object.fromEntries(shapes[tag - 1]!.map((name, at) => [name, values[at]]));
  };
  return unpack;
}
