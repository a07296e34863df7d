import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import { isOrdered } from '../../core/run/run-id.ts';
import { editRun } from '../store/changes/edit-run.ts';
import { RunIndex } from '../store/index/run-index.ts';
import type { KnownSource } from '../store/index/run-index.ts';
import type { RunStore } from '../store/run-store.ts';
import { reasonOf, RunExistsError } from '../errors/expected-error.ts';
import { findFiles } from './find-files.ts';
import type { Unread } from './find-files.ts';
import { partHash, storeImport } from './import-run.ts';
import type { ContentSource } from './import-run.ts';
import { printable, ImportRefusal } from './import-notes.ts';
import { JsonTextError } from './reading/json-text.ts';
import { isMappable } from './mapped/mapped.ts';
import type { FileGroup, ImportContext, ImportedRun, Importer, RecognizedFile } from './importer.ts';
import { contentHash, openSource } from './reading/source-file.ts';
import type { SourceFile } from './reading/source-file.ts';
import { unsupportedTool } from './importers.ts';

/** What became of one group of files, or of one file. */
export type ImportOutcome =
  | {
      readonly status: 'imported';
      readonly name: string;
      readonly tool: string;
      readonly run_id: string;
      readonly notes: readonly string[];
      /** In how many figures the file contradicts its own records. */
      readonly disagreements: number;
    }
  | { readonly status: 'known'; readonly name: string; readonly tool: string; readonly run_id: string }
  | {
      readonly status: 'updated';
      readonly name: string;
      readonly tool: string;
      readonly run_id: string;
      /** What is known of the run now. */
      readonly what: 'start time' | 'time of import';
    }
  | {
      readonly status: 'refused';
      readonly name: string;
      /** Null: it was not found out whose it is. */
      readonly tool: string | null;
      readonly reason: string;
      /** A path that was given and does not exist. */
      readonly missing: boolean;
    };

export interface ImportReport {
  readonly outcomes: readonly ImportOutcome[];
  /** Names of the files that are no results of a known tool. */
  readonly unrecognized: readonly string[];
  /** Those of them that a mapping of columns can read, where none is given. */
  readonly mappable: readonly string[];
  /** Why the given mapping does not read those that are unrecognized, each with the file's name. */
  readonly unmapped: readonly string[];
  /** Files that belong to results and are not imported themselves, each with the reason. */
  readonly passedOver: readonly PassedOver[];
  /** Groups that were not accepted. */
  readonly deferred: number;
}

export interface PassedOver {
  readonly tool: string;
  /** In a few words. */
  readonly reason: string;
}

export interface ImportRequest extends Omit<ImportContext, 'progress'> {
  readonly paths: readonly string[];
  readonly store: RunStore;
  readonly importers: readonly Importer[];
  readonly onProgress: ImportListener;
  /** The scenario of all runs; absent or null: as the tool reports it, else the name of the folder or the file. */
  readonly scenario?: string | null;
  /** Of all new runs, sorted; absent: none. */
  readonly tags?: readonly string[];
  /** Whether a group is to be imported now; absent: all are. */
  readonly accept?: (group: FileGroup) => boolean;
  /** Which runs of a group are wanted, by their `part`, from all of them; absent, or null for a group: all are. */
  readonly select?: (group: FileGroup) => ((runs: readonly ImportedRun[]) => ReadonlySet<string | null>) | null;
  /** The run as it is to be stored, and under which name; absent: as it was read, under a name of its own. */
  readonly assign?: (imported: ImportedRun) => { readonly imported: ImportedRun; readonly runId: string | null };
}

/** Receives the progress of an import. */
export interface ImportListener {
  /** The files were looked at: so many bytes will be read, and so many groups imported. */
  planned(bytes: number, groups: number): void;
  /** So many stored bytes more were read. */
  read(bytes: number): void;
  done(outcome: ImportOutcome): void;
}

/**
 * Imports the results at the paths, one group of files after the other: whatever is wrong with one, the others go on,
 * and each is imported wholly or not at all. Throws the signal's reason when it is aborted, and `RunsDirectoryError`.
 */
export async function importFiles(request: ImportRequest): Promise<ImportReport> {
  const { importers, signal, onProgress } = request;
  const outcomes: ImportOutcome[] = [];
  const done = (outcome: ImportOutcome): void => {
    outcomes.push(outcome);
    onProgress.done(outcome);
  };
  const found = await findFiles(request.paths);
  const looked = await lookAt(found.paths, importers, signal);
  const refused: Unread[] = [...found.refused, ...looked.refused];
  const all = importers.flatMap((importer) => groupsOf(importer, looked.recognized));
  const groups = all.filter(({ group }) => request.accept?.(group) ?? true);
  onProgress.planned(
    groups.reduce((bytes, each) => bytes + plannedBytes(each), 0),
    groups.length,
  );
  for (const { path, reason, missing, tool } of refused) {
    done({ status: 'refused', name: printable(path), tool: tool ?? null, reason, missing: missing === true });
  }
  const known = await RunIndex.use(request.store, (index) => index.knownSources());
  const place = placeInImport();
  for (const group of groups) {
    signal.throwIfAborted();
    const progress = new GroupProgress(plannedBytes(group), onProgress);
    for await (const outcome of importGroup(group, known, request, { progress, place })) done(outcome);
    progress.done();
  }
  const { unrecognized, mappable, unmapped } = looked;
  const passedOver = [...looked.passedOver, ...ungrouped(looked.recognized, all)];
  return { outcomes, unrecognized, mappable, unmapped, passedOver, deferred: all.length - groups.length };
}

type ImportPlace = Pick<ContentSource, 'imported_at' | 'position'>;

/** Gives each run of an import its place in it. */
function placeInImport(): () => ImportPlace {
  const imported_at = new Date().toISOString();
  let position = 0;
  return () => ({ imported_at, position: position++ });
}

interface ImporterGroup {
  readonly importer: Importer;
  readonly group: FileGroup;
}

interface LookedAt {
  readonly recognized: ReadonlyMap<Importer, readonly RecognizedFile[]>;
  readonly refused: readonly Unread[];
  readonly unrecognized: readonly string[];
  readonly mappable: readonly string[];
  readonly unmapped: readonly string[];
  readonly passedOver: readonly PassedOver[];
}

async function lookAt(
  paths: readonly string[],
  importers: readonly Importer[],
  signal: AbortSignal,
): Promise<LookedAt> {
  const recognized = new Map<Importer, RecognizedFile[]>(importers.map((importer) => [importer, []]));
  const refused: Unread[] = [];
  const unrecognized: string[] = [];
  const mappable: string[] = [];
  const unmapped: string[] = [];
  const passedOver: PassedOver[] = [];
  for (const path of paths) {
    signal.throwIfAborted();
    try {
      const file = await openSource(path);
      const found = recognize(file, importers);
      const unsupported = found === null ? unsupportedTool(file) : null;
      if (unsupported !== null) refused.push({ path, ...unsupported });
      else if (found === null) {
        const name = printable(basename(path));
        unrecognized.push(name);
        const reasons = importers.flatMap((importer) => importer.whyNot?.(file) ?? []);
        if (reasons.length > 0) unmapped.push(`${name} ${reasons.join(', ')}`);
        else if (isMappable(file)) mappable.push(name);
      } else if (found.file.recognition.ignored !== undefined) {
        passedOver.push({ tool: found.importer.tool, reason: found.file.recognition.ignored });
      } else recognized.get(found.importer)?.push(found.file);
    } catch (error) {
      if (!(error instanceof ImportRefusal)) throw error;
      refused.push({ path, reason: error.message });
    }
  }
  passedOver.push(...removeConversions(recognized));
  return { recognized, refused, unrecognized, mappable, unmapped, passedOver };
}

/** Removes files that are conversions of others of them. */
function removeConversions(recognized: Map<Importer, RecognizedFile[]>): PassedOver[] {
  const pathOf = (folder: string, name: string): string => `${folder}\0${name}`;
  const paths = new Set([...recognized.values()].flat().map(({ file }) => pathOf(file.folder, file.name)));
  const removed: PassedOver[] = [];
  for (const [importer, files] of recognized) {
    const kept = files.filter(({ file }) => {
      const original = importer.conversionOf?.(file) ?? null;
      return original === null || !paths.has(pathOf(file.folder, original));
    });
    for (let i = kept.length; i < files.length; i++)
      removed.push({ tool: importer.tool, reason: 'converted from a result beside them' });
    recognized.set(importer, kept);
  }
  return removed;
}

/** Files of results that are in no group, because others beside them hold the same. */
function ungrouped(recognized: LookedAt['recognized'], groups: readonly ImporterGroup[]): PassedOver[] {
  const used = new Set(groups.flatMap(({ group }) => group.files.map(({ file }) => file)));
  return [...recognized].flatMap(([{ tool }, files]) =>
    files.filter(({ file }) => !used.has(file)).map(() => ({ tool, reason: 'repeated by other files of the result' })),
  );
}

/** The importer that recognizes the file; null when none does. */
export function recognize(
  file: SourceFile,
  importers: readonly Importer[],
): { readonly importer: Importer; readonly file: RecognizedFile } | null {
  for (const importer of importers) {
    const recognition = importer.recognize(file);
    if (recognition !== null) return { importer, file: { file, recognition } };
  }
  return null;
}

function groupsOf(importer: Importer, recognized: LookedAt['recognized']): ImporterGroup[] {
  const files = recognized.get(importer) ?? [];
  const groups = importer.group?.(files) ?? files.map((file) => eachAlone(file));
  return groups.filter(({ files: used }) => used.length > 0).map((group) => ({ importer, group }));
}

function eachAlone(file: RecognizedFile): FileGroup {
  return { files: [file], name: file.file.name, group_id: null, step: null, repeat: null };
}

/** What of a group will be read: each file for its hash, and as often as its importer goes through it. */
function plannedBytes({ importer, group }: ImporterGroup): number {
  return (1 + (importer.passes ?? 1)) * group.files.reduce((bytes, { file }) => bytes + file.bytes, 0);
}

/** Reports a group's bytes as they are read, never more than planned, and all of them when it is done. */
class GroupProgress {
  readonly #listener: ImportListener;
  #left: number;

  constructor(planned: number, listener: ImportListener) {
    this.#left = planned;
    this.#listener = listener;
  }

  read(bytes: number): void {
    const reported = Math.min(bytes, this.#left);
    this.#left -= reported;
    if (reported > 0) this.#listener.read(reported);
  }

  done(): void {
    this.read(this.#left);
  }
}

async function* importGroup(
  { importer, group }: ImporterGroup,
  known: Map<string, KnownSource>,
  { store, signal, timeZone, scenario = null, tags = [], select, assign }: ImportRequest,
  { progress, place }: { readonly progress: GroupProgress; readonly place: () => ImportPlace },
): AsyncGenerator<ImportOutcome> {
  const context: ImportContext = { timeZone, signal, progress: (bytes) => progress.read(bytes) };
  const common = { name: printable(group.name), tool: importer.tool };
  try {
    const sha256 = await groupHash(group, context);
    const before = known.get(sha256);
    // With a time zone, a run that has no start may get one.
    if (before !== undefined && (timeZone === null || before.start !== null)) {
      yield { ...common, ...(await alreadyStored(store, before, place())) };
      return;
    }
    const selected = await selectedParts(select?.(group) ?? null, importer.read(group, context));
    for await (const imported of importer.read(group, context)) {
      if (selected !== null && !selected.has(imported.part)) continue;
      const hash = imported.sha256 ?? partHash(sha256, imported.part);
      const name = imported.part === null ? common.name : `${common.name} (${printable(imported.part)})`;
      const there = known.get(hash);
      const at = place();
      if (there !== undefined && (there.start !== null || imported.start === null)) {
        yield { ...common, name, ...(await alreadyStored(store, there, at)) };
        continue;
      }
      const files = group.files.map(({ file }) => basename(file.path));
      const named = scenario === null ? imported : { ...imported, scenario };
      if (there !== undefined) {
        const replaced = await store.readRun(there.run_id);
        const { imported_at, position } = replaced.source ?? at;
        const source = { sha256: hash, files, ...(imported_at === null ? at : { imported_at, position }) };
        await storeImport(store, named, group, source, { tags, replaced });
        yield { ...common, name, status: 'updated', run_id: there.run_id, what: 'start time' };
        continue;
      }
      const assigned = assign?.(named) ?? { imported: named, runId: null };
      const { run_id, isNew } = await stored(store, hash, () =>
        storeImport(store, assigned.imported, group, { sha256: hash, files, ...at }, { tags, runId: assigned.runId }),
      );
      known.set(hash, { run_id, start: imported.start, imported_at: at.imported_at });
      if (!isNew) {
        yield { ...common, name, status: 'known', run_id };
        continue;
      }
      const { lines: notes, disagreements } = imported.notes;
      yield { ...common, name, status: 'imported', run_id, notes, disagreements: disagreements.length };
    }
  } catch (error) {
    if (signal.aborted) throw error;
    if (error instanceof RunExistsError || error instanceof ImportRefusal || error instanceof JsonTextError) {
      yield { ...common, status: 'refused', reason: error.message, missing: false };
    } else if (isOfSystem(error)) {
      yield { ...common, status: 'refused', reason: reasonOf(error), missing: false };
    } else throw error;
  }
}

/** Null: all. */
async function selectedParts(
  select: ReturnType<NonNullable<ImportRequest['select']>>,
  runs: AsyncIterable<ImportedRun>,
): Promise<ReadonlySet<string | null> | null> {
  if (select === null) return null;
  const all: ImportedRun[] = [];
  for await (const imported of runs) all.push(imported);
  return select(all);
}

/** A result that is stored: by an earlier version perhaps, which did not record when it was imported. */
async function alreadyStored(
  store: RunStore,
  known: KnownSource,
  at: ImportPlace,
): Promise<
  | Pick<Extract<ImportOutcome, { status: 'known' }>, 'status' | 'run_id'>
  | Pick<Extract<ImportOutcome, { status: 'updated' }>, 'status' | 'run_id' | 'what'>
> {
  const { run_id } = known;
  if (isOrdered(known)) return { status: 'known', run_id };
  await editRun(store, run_id, (run) => ({ ...run, source: run.source && { ...run.source, ...at } }));
  return { status: 'updated', run_id, what: 'time of import' };
}

/** Another process may have imported the same content since this one began: then the run is its, and not new. */
async function stored(
  store: RunStore,
  hash: string,
  add: () => Promise<string>,
): Promise<{ readonly run_id: string; readonly isNew: boolean }> {
  try {
    return { run_id: await add(), isNew: true };
  } catch (error) {
    if (!(error instanceof RunExistsError)) throw error;
    const known = (await RunIndex.use(store, (index) => index.knownSources())).get(hash);
    if (known === undefined) throw error;
    return { run_id: known.run_id, isNew: false };
  }
}

/** The file system refused: this may concern one file only. */
function isOfSystem(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}

/** The hash of a file's content; of several files that of their sorted hashes. */
async function groupHash({ files }: FileGroup, context: ImportContext): Promise<string> {
  const hashes: string[] = [];
  for (const { file, recognition } of files) {
    const { sha256 } = await contentHash(file, context);
    hashes.push(`${recognition.format} ${sha256}`);
  }
  if (hashes.length === 1) return hashes[0]?.split(' ')[1] ?? '';
  return createHash('sha256').update(hashes.sort().join('\n')).digest('hex');
}
