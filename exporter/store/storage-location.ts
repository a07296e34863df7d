/** A place in an object store: the runs of a team. Its objects are laid out like the files of a runs directory. */
export interface StorageLocation {
  readonly bucket: string;
  /** Empty, or ends with a slash. */
  readonly prefix: string;
}

/** Where object storage is, besides what the SDK finds in the environment and in its configuration files. */
export interface StorageAccess {
  /** URL of a server that is not Amazon's; null: from the environment or the configuration of the SDK. */
  readonly endpoint: string | null;
  /** `auto`: path style with an endpoint of one's own, otherwise the bucket is part of the host name. */
  readonly addressing: Addressing;
}

export const ADDRESSINGS = ['auto', 'path', 'virtual'] as const;
export type Addressing = (typeof ADDRESSINGS)[number];

const FORM = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,61}[a-z0-9])(?:\/(.*))?$/s;
const MAX_PREFIX = 512;

/** Whether a runs directory is meant to be in object storage. */
export const isStorageUrl = (text: string): boolean => /^s3:\//i.test(text);

/** Throws an `Error` that says what is expected. */
export function parseStorageUrl(text: string): StorageLocation {
  const [, bucket, path = ''] = FORM.exec(text) ?? [];
  const parts = path.split('/').filter((part) => part !== '');
  const isPath = parts.every((part) => part !== '.' && part !== '..' && !hasControls(part));
  if (bucket === undefined || !isPath || path.length > MAX_PREFIX) throw new Error('s3://BUCKET or s3://BUCKET/PREFIX');
  return { bucket, prefix: parts.map((part) => `${part}/`).join('') };
}

export const storageUrl = ({ bucket, prefix }: StorageLocation): string =>
  `s3://${bucket}${prefix === '' ? '' : `/${prefix.slice(0, -1)}`}`;

/** The place below another. */
export const locationIn = ({ bucket, prefix }: StorageLocation, ...folders: readonly string[]): StorageLocation => ({
  bucket,
  prefix: prefix + folders.map((folder) => `${folder}/`).join(''),
});

// eslint-disable-next-line no-control-regex
const hasControls = (text: string): boolean => /[\u0000-\u001f\u007f]/.test(text);
