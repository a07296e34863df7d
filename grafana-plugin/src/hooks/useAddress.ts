import { locationService } from '@grafana/runtime';
import { useCallback, useMemo } from 'react';
import { useLocation } from 'react-router-dom';

export type AddressChange = Record<string, string | readonly string[] | null>;

export interface Address {
  one: (name: string) => string | null;
  all: (name: string) => string[];
  /** Sets parameters, null and empty ones are taken out. */
  set: (change: AddressChange) => void;
}

/** The parameters of the page's address, which hold its state, so that any view can be shared. */
export function useAddress(): Address {
  const { search } = useLocation();
  const parameters = useMemo(() => new URLSearchParams(search), [search]);
  const set = useCallback((change: AddressChange) => {
    const next = locationService.getSearch();
    for (const [name, value] of Object.entries(change)) {
      next.delete(name);
      for (const one of typeof value === 'string' ? [value] : (value ?? [])) {
        if (one !== '') {
          next.append(name, one);
        }
      }
    }
    // Controls report a change more than once: one history entry is enough.
    if (next.toString() === locationService.getSearch().toString()) {
      return;
    }
    locationService.push({ pathname: locationService.getLocation().pathname, search: next.toString() });
  }, []);
  return useMemo(
    () => ({ one: (name) => parameters.get(name), all: (name) => parameters.getAll(name), set }),
    [parameters, set]
  );
}
