import { ByteInterner, FNV_START } from './byte-interner.ts';
import { LabelSets } from './label-sets.ts';

/**
 * Each repeated part of a page's lines, once: metric names, label sets, values of `le`. Ids stay valid; nothing is
 * removed.
 */
export class Dictionaries {
  readonly names: string[] = [];
  /** Whether the name of that id ends in `_bucket`. */
  readonly bucketNames: boolean[] = [];
  readonly bounds: string[] = [];
  readonly labelSets = new LabelSets();
  /** Maps the bytes of a page to ids; several spellings may have one id. */
  readonly nameBytes = new ByteInterner();
  readonly labelBytes = new ByteInterner();
  readonly boundBytes = new ByteInterner();
  readonly emptySet: number;
  private readonly nameIds = new Map<string, number>();
  private readonly boundIds = new Map<string, number>();

  constructor() {
    this.emptySet = this.labelSets.intern([]);
    this.labelBytes.add(new Uint8Array(0), FNV_START, 0, 0, 0, 0, this.emptySet);
  }

  internName(name: string): number {
    let id = this.nameIds.get(name);
    if (id === undefined) {
      id = this.names.push(name) - 1;
      this.bucketNames.push(name.endsWith('_bucket'));
      this.nameIds.set(name, id);
    }
    return id;
  }

  internBound(bound: string): number {
    let id = this.boundIds.get(bound);
    if (id === undefined) {
      id = this.bounds.push(bound) - 1;
      this.boundIds.set(bound, id);
    }
    return id;
  }

  /** Entries of all kinds: decides when to start with empty dictionaries. */
  get size(): number {
    return this.names.length + this.bounds.length + this.labelSets.sets.length + this.labelBytes.size;
  }
}
