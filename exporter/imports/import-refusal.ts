/** The files are known and cannot be imported: what is wrong and what to do, in one line for people. */
export class ImportRefusal extends Error {
  override readonly name = 'ImportRefusal';
}
