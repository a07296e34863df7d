/** Whether `length` bytes at two places are the same. */
export function equalBytes(a: DataView, atA: number, b: DataView, atB: number, length: number): boolean {
  if (length < 16) return equalFew(a, atA, b, atB, length);
  // The last sixteen overlap those before them, so that no rest is left.
  const last = length - 16;
  for (let i = 0; i < last; i += 16) if (!equalSixteen(a, atA + i, b, atB + i)) return false;
  return equalSixteen(a, atA + last, b, atB + last);
}

function equalFew(a: DataView, atA: number, b: DataView, atB: number, length: number): boolean {
  let i = 0;
  for (; i + 4 <= length; i += 4) if (a.getUint32(atA + i) !== b.getUint32(atB + i)) return false;
  for (; i < length; i++) if (a.getUint8(atA + i) !== b.getUint8(atB + i)) return false;
  return true;
}

/**
 * Eight at a time as doubles. Equal doubles have equal bytes but for ±0, and unequal ones differ but for NaN: those two
 * are compared as integers.
 */
function equalSixteen(a: DataView, atA: number, b: DataView, atB: number): boolean {
  const first = a.getFloat64(atA, true);
  const second = a.getFloat64(atA + 8, true);
  const equal = first === b.getFloat64(atB, true) && second === b.getFloat64(atB + 8, true);
  if (equal && first * second !== 0) return true;
  return equalWords(a, atA, b, atB) && equalWords(a, atA + 8, b, atB + 8);
}

function equalWords(a: DataView, atA: number, b: DataView, atB: number): boolean {
  return a.getUint32(atA) === b.getUint32(atB) && a.getUint32(atA + 4) === b.getUint32(atB + 4);
}
