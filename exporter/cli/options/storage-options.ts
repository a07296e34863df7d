import {
  ADDRESSINGS,
  parseStorageUrl,
  type StorageAccess,
  type StorageLocation,
} from '../../store/storage-location.ts';
import { choice, readOptions, text, type Option, type OptionValues } from './options.ts';

/** How to reach object storage that is not Amazon's. */
export const STORAGE_OPTIONS = {
  's3-endpoint': text(
    'URL',
    'object storage other than Amazon S3, e.g. https://minio:9000 (also AWS_ENDPOINT_URL_S3)',
    null,
  ),
  's3-addressing': choice(
    ADDRESSINGS,
    'bucket in the path or in the host name of requests; auto: path with an endpoint other than Amazon S3',
    'auto',
  ),
};

/** A location in object storage. */
export const storageLocation = (help: string): Option<StorageLocation | null> => ({
  help,
  value: 's3://BUCKET/PREFIX',
  parse: (given) => parseStorageUrl(given.at(-1) ?? ''),
  fallback: null,
});

export const storageAccess = (options: OptionValues<typeof STORAGE_OPTIONS>): StorageAccess => ({
  endpoint: options['s3-endpoint'],
  addressing: options['s3-addressing'],
});

/** The access of commands without these options: from the environment. Throws a `CliError`. */
export const environmentAccess = (): StorageAccess => storageAccess(readOptions(STORAGE_OPTIONS, [], process.env));
