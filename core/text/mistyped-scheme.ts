/**
 * Whether an address that has no scheme begins as if it should have one. URL parsers would take `ht!tp://x` for a host named
 * ht!tp, and `http:/x` or `http//x` for one named http.
 */
export const hasMistypedScheme = (address: string): boolean => /^([^/?#]*:\/\/|https?(:\/|\/\/))/i.test(address);
