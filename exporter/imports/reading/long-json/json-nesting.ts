import { DEEPEST_NESTING, JsonTextError } from '../json-text.ts';

const IN_LIST = 1;
const IN_OBJECT = 2;

/** Where in a JSON value a scanner is: how deep, and by which keys and indexes, as far as anyone looks at them. */
export class JsonNesting {
  readonly #kinds = new Uint8Array(DEEPEST_NESTING + 1);
  /** Of the values inside each of the first containers: the key, or the index in a list. */
  readonly #steps: (string | number | null)[] = [];
  readonly #watched: number;
  #depth = 0;
  #keyIsNext = false;

  /** `watched`: down to which depth keys and indexes are kept. */
  constructor(watched: number) {
    this.#watched = watched;
  }

  /** How many objects and lists are open. */
  get depth(): number {
    return this.#depth;
  }

  /** Whether the next string is a key that is to be kept. */
  get keyIsNext(): boolean {
    return this.#keyIsNext;
  }

  /** The keys and indexes that lead to the value that begins now. */
  get path(): string[] {
    return this.#steps.slice(0, this.#depth).map(String);
  }

  /** An object or a list begins at a byte of the file. Throws `JsonTextError` when it is nested too deep. */
  open(isList: boolean, place: number): void {
    this.#depth += 1;
    if (this.#depth > DEEPEST_NESTING) {
      throw new JsonTextError(`it is nested more than ${DEEPEST_NESTING} deep`, place, 'byte');
    }
    this.#kinds[this.#depth] = isList ? IN_LIST : IN_OBJECT;
    if (this.#depth > this.#watched) return;
    this.#steps[this.#depth - 1] = isList ? 0 : null;
    this.#keyIsNext = !isList;
  }

  /** The innermost object or list ends. Throws `JsonTextError` when it is of the other kind, or none is open. */
  close(isList: boolean, place: number): void {
    if (this.#kinds[this.#depth] !== (isList ? IN_LIST : IN_OBJECT)) {
      throw new JsonTextError('it is not JSON', place, 'byte');
    }
    this.#kinds[this.#depth] = 0;
    this.#depth -= 1;
    this.#keyIsNext = false;
  }

  /** A comma: the next key or element. */
  next(): void {
    if (this.#depth === 0 || this.#depth > this.#watched) return;
    const step = this.#steps[this.#depth - 1];
    if (this.#kinds[this.#depth] === IN_OBJECT) this.#keyIsNext = true;
    else if (typeof step === 'number') this.#steps[this.#depth - 1] = step + 1;
  }

  /** The key has been read. */
  key(name: string): void {
    this.#steps[this.#depth - 1] = name;
    this.#keyIsNext = false;
  }
}
