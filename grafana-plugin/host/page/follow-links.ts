import { locationService } from '@grafana/runtime';

/** Like Grafana, opens links to the app without reloading the page. */
export function followLinks(): void {
  document.addEventListener('click', (event) => {
    const link = event.target instanceof Element ? event.target.closest('a') : null;
    if (!link || event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) {
      return;
    }
    const { origin, pathname, search, hash } = new URL(link.href);
    if (link.target === '_blank' || origin !== window.location.origin || !pathname.startsWith('/a/')) {
      return;
    }
    event.preventDefault();
    locationService.push(`${pathname}${search}${hash}`);
  });
}
