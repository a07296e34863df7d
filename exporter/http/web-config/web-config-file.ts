import { readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { ConfigurationError } from '../../errors/configuration-error.ts';
import { codeOf, reasonOf } from '../../errors/store-errors.ts';
import { secureContext, type Pem } from './tls-config.ts';
import { parseWebConfig, type WebConfig } from './web-config.ts';

/** A configuration with the files that it names. */
export interface LoadedWebConfig extends WebConfig {
  readonly secureContext: SecureContextOptions | null;
}

const MOST_BYTES = 1_000_000;

/**
 * A web configuration file that is read again when it, a certificate or a key has changed. A change that is not valid is
 * reported once and what held before holds on. TLS itself, and whether certificates of clients are requested, are decided
 * at the start.
 */
export class WebConfigFile {
  readonly path: string;
  readonly #problem: (line: string) => void;
  #loaded: LoadedWebConfig;
  #files: readonly string[] = [];
  #version = '';

  /** Throws a `ConfigurationError` if the file or one that it names is not valid. `problem` receives one line. */
  constructor(path: string, problem: (line: string) => void) {
    this.path = path;
    this.#problem = problem;
    this.#loaded = this.#load();
    this.#version = this.#versionOfFiles();
  }

  /** The configuration that holds now. */
  current(): LoadedWebConfig {
    const version = this.#versionOfFiles();
    if (version === this.#version) return this.#loaded;
    try {
      const loaded = this.#load();
      const isTlsKept = (loaded.tls === null) === (this.#loaded.tls === null);
      if (!isTlsKept) throw new ConfigurationError(`${this.path}: a restart is required to switch TLS on or off`);
      if ((loaded.tls?.clientAuth === 'NoClientCert') !== (this.#loaded.tls?.clientAuth === 'NoClientCert')) {
        throw new ConfigurationError(`${this.path}: a restart is required to begin or end requesting certificates`);
      }
      this.#loaded = loaded;
    } catch (error) {
      if (!(error instanceof ConfigurationError)) throw error;
      this.#problem(`${error.message}; the previous configuration stays in use`);
    }
    this.#version = this.#versionOfFiles();
    return this.#loaded;
  }

  #load(): LoadedWebConfig {
    const files = [this.path];
    this.#files = files;
    const config = parseWebConfig(this.#read(this.path), this.path);
    if (config.tls === null) return { ...config, secureContext: null };
    const context = secureContext(config.tls, (pem: Pem) => {
      if ('text' in pem) return pem.text;
      const path = resolve(dirname(this.path), pem.file);
      files.push(path);
      return this.#read(path);
    });
    try {
      createSecureContext(context);
    } catch (error) {
      throw new ConfigurationError(`${this.path}: tls_server_config cannot be used: ${reasonOf(error)}`);
    }
    return { ...config, secureContext: context };
  }

  #read(path: string): string {
    try {
      const stats = statSync(path);
      if (!stats.isFile() || stats.size > MOST_BYTES) {
        throw new ConfigurationError(`${path} must be a regular file of at most ${MOST_BYTES} bytes`);
      }
      return readFileSync(path, 'utf8');
    } catch (error) {
      if (error instanceof ConfigurationError) throw error;
      throw new ConfigurationError(`${path} cannot be read: ${reasonOf(error)}`);
    }
  }

  /** Synchronous, because a connection cannot wait for the certificate that it is offered. */
  #versionOfFiles(): string {
    return this.#files
      .map((path) => {
        try {
          const { mtimeMs, size, ino } = statSync(path);
          return `${mtimeMs}:${size}:${ino}`;
        } catch (error) {
          return codeOf(error);
        }
      })
      .join(' ');
  }
}
