import { dirname, resolve } from 'node:path';
import { createSecureContext, type SecureContextOptions } from 'node:tls';
import { ConfigurationError, reasonOf } from '../../errors/expected-error.ts';
import { Reloaded, type ReadText } from '../../files/reloaded.ts';
import type { ListenTls } from '../listen.ts';
import { secureContext, parseWebConfig, isClientAllowed, type Pem, type WebConfig } from './web-config.ts';

/** A configuration with the files that it names. */
export interface LoadedWebConfig extends WebConfig {
  readonly secureContext: SecureContextOptions | null;
}

/**
 * A web configuration file that is read again when it, a certificate or a key has changed. TLS itself, and whether
 * certificates of clients are requested, are decided at the start.
 */
export class WebConfigFile {
  readonly path: string;
  readonly #loaded: Reloaded<LoadedWebConfig>;

  /** Throws a `ConfigurationError` if the file or one that it names is not valid. `problem` receives one line. */
  constructor(path: string, problem: (line: string) => void) {
    this.path = path;
    this.#loaded = new Reloaded((read, previous) => {
      const loaded = loadedFrom(path, read);
      if (previous !== null) checkKept(path, previous, loaded);
      return loaded;
    }, problem);
  }

  /** The configuration that holds now. */
  current(): LoadedWebConfig {
    return this.#loaded.current();
  }
}

function loadedFrom(path: string, read: ReadText): LoadedWebConfig {
  const config = parseWebConfig(read(path), path);
  if (config.tls === null) return { ...config, secureContext: null };
  const context = secureContext(config.tls, (pem: Pem) =>
    'text' in pem ? pem.text : read(resolve(dirname(path), pem.file)),
  );
  try {
    createSecureContext(context);
  } catch (error) {
    throw new ConfigurationError(`${path}: tls_server_config cannot be used: ${reasonOf(error)}`);
  }
  return { ...config, secureContext: context };
}

function checkKept(path: string, previous: WebConfig, next: WebConfig): void {
  if ((next.tls === null) !== (previous.tls === null)) {
    throw new ConfigurationError(`${path}: a restart is required to switch TLS on or off`);
  }
  if ((next.tls?.clientAuth === 'NoClientCert') !== (previous.tls?.clientAuth === 'NoClientCert')) {
    throw new ConfigurationError(`${path}: a restart is required to begin or end requesting certificates`);
  }
}

/** TLS by a web configuration file; null: the file does not configure it. */
export function webTls(file: WebConfigFile): ListenTls | null {
  const { tls } = file.current();
  if (tls === null) return null;
  return {
    requestsCertificate: tls.clientAuth !== 'NoClientCert',
    context() {
      return file.current().secureContext ?? {};
    },
    isAllowed(socket) {
      const config = file.current().tls ?? tls;
      const certificate = socket.getPeerCertificate();
      const isGiven = Object.keys(certificate).length > 0;
      return isClientAllowed(config, { certificate: isGiven ? certificate : null, isVerified: socket.authorized });
    },
  };
}
