import type { ListenTls } from '../listen.ts';
import { isClientAllowed } from './tls-config.ts';
import type { WebConfigFile } from './web-config-file.ts';

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
