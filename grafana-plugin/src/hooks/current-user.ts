import { config } from '@grafana/runtime';

export interface CurrentUser {
  login: string;
  /** Whether Grafana lets the user change things, as its proxy checks again on its server. */
  isEditor: boolean;
  mayAddDataSources: boolean;
}

/** Who is signed in to Grafana. */
export function currentUser(): CurrentUser {
  const { login, orgRole, isGrafanaAdmin, permissions } = config.bootData.user;
  const isAdmin = isGrafanaAdmin || orgRole === 'Admin';
  return {
    login,
    isEditor: isAdmin || orgRole === 'Editor',
    mayAddDataSources: permissions?.['datasources:create'] ?? isAdmin,
  };
}
