type NumberArray = Float64Array<ArrayBuffer> | Uint32Array<ArrayBuffer>;

/** Numbers in one typed array that doubles when it is full. */
export class GrowingArray<A extends NumberArray> {
  readonly #make: (length: number) => A;
  #array: A;
  #length = 0;

  constructor(make: (length: number) => A, capacity = 8) {
    this.#make = make;
    this.#array = make(capacity);
  }

  get length(): number {
    return this.#length;
  }

  /** NaN beyond the end. */
  get(index: number): number {
    return index < this.#length ? (this.#array[index] ?? NaN) : NaN;
  }

  set(index: number, value: number): void {
    if (index < this.#length) this.#array[index] = value;
  }

  push(value: number): void {
    this.#makeRoom(1);
    this.#array[this.#length] = value;
    this.#length += 1;
  }

  pushAll(values: ArrayLike<number>): void {
    this.#makeRoom(values.length);
    this.#array.set(values, this.#length);
    this.#length += values.length;
  }

  #makeRoom(count: number): void {
    if (this.#length + count <= this.#array.length) return;
    const larger = this.#make(Math.max(this.#length + count, 2 * this.#array.length));
    larger.set(this.#array);
    this.#array = larger;
  }
}

export const growingFloats = (): GrowingArray<Float64Array<ArrayBuffer>> =>
  new GrowingArray((length) => new Float64Array(length));
export const growingIntegers = (): GrowingArray<Uint32Array<ArrayBuffer>> =>
  new GrowingArray((length) => new Uint32Array(length));
