import { config } from '@grafana/runtime';

export interface CurrentUser {
  login: string;
  /** Whether Grafana lets the user change things, as its proxy checks again on its server. */
  isEditor: boolean;
}

/** Who is signed in to Grafana. */
export function currentUser(): CurrentUser {
  const { login, orgRole, isGrafanaAdmin } = config.bootData.user;
  return { login, isEditor: isGrafanaAdmin || orgRole === 'Editor' || orgRole === 'Admin' };
}
