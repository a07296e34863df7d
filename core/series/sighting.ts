/** What a start time shows: the same process, or one that started since; null: it is not known. */
export type StartProof = 'same' | 'renewed' | null;

/** A cumulative series on two consecutive good pages of one address. */
export interface Sighting {
  /**
   * `continued`: it is on both pages and none of its numbers decreased. `vanished`: it is missing from the second page.
   * `appeared`: it is missing from the first page.
   */
  readonly step: 'continued' | 'fell' | 'vanished' | 'appeared';
  /** Whether it was above 0 on the first page. */
  readonly counted: boolean;
  /** Whether it has exactly the number of the first page, one that a new process is unlikely to reach by chance. */
  readonly stood: boolean;
  readonly family: string;
  /** The process named by the labels; '' if none: that of the page. */
  readonly process: string;
  /** Labels that may name a process that the start time does not name. */
  readonly mayName: ReadonlyMap<string, string>;
  /** Labels that describe what a process counts, and may name processes only if they have several values. */
  readonly describedBy: ReadonlyMap<string, string>;
  /** By the start time of the series or of the process that its labels name. */
  readonly proof: StartProof;
  /** Whether `proof` is by the start time of the series itself. */
  readonly isOwnProof: boolean;
  /** By the start time of the process of the page, where the labels name another one. */
  readonly proofOfPage: StartProof;
}

/** What start times and labels prove about a series. */
export type Proofs = Pick<Sighting, 'process' | 'mayName' | 'describedBy' | 'proof' | 'isOwnProof' | 'proofOfPage'>;

export const UNPROVEN: Proofs = {
  process: '',
  mayName: new Map(),
  describedBy: new Map(),
  proof: null,
  isOwnProof: false,
  proofOfPage: null,
};
