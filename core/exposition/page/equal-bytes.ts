/**
 * Whether `length` bytes at two places are the same, eight at a time as doubles. Equal doubles have equal bytes but for
 * ±0, and unequal ones differ but for NaN: those two are compared as integers.
 */
export function equalBytes(a: DataView, atA: number, b: DataView, atB: number, length: number): boolean {
  let i = 0;
  for (; i + 16 <= length; i += 16) {
    const first = a.getFloat64(atA + i, true);
    const second = a.getFloat64(atA + i + 8, true);
    const equal = first === b.getFloat64(atB + i, true) && second === b.getFloat64(atB + i + 8, true);
    if ((!equal || first * second === 0) && !equalSixteen(a, atA + i, b, atB + i)) return false;
  }
  for (; i + 8 <= length; i += 8) {
    const eight = a.getFloat64(atA + i, true);
    if ((eight !== b.getFloat64(atB + i, true) || eight === 0) && !equalWords(a, atA + i, b, atB + i)) return false;
  }
  for (; i + 4 <= length; i += 4) if (a.getUint32(atA + i) !== b.getUint32(atB + i)) return false;
  for (; i < length; i++) if (a.getUint8(atA + i) !== b.getUint8(atB + i)) return false;
  return true;
}

function equalWords(a: DataView, atA: number, b: DataView, atB: number): boolean {
  return a.getUint32(atA) === b.getUint32(atB) && a.getUint32(atA + 4) === b.getUint32(atB + 4);
}

function equalSixteen(a: DataView, atA: number, b: DataView, atB: number): boolean {
  return equalWords(a, atA, b, atB) && equalWords(a, atA + 8, b, atB + 8);
}
