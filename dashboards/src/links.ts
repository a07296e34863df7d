import { DashboardLinkBuilder, DashboardLinkType } from '@grafana/grafana-foundation-sdk/dashboard';

/** A menu of the dashboards with the tag; the time range and the variables that they share go along. */
export function linksTo(tag: string): DashboardLinkBuilder {
  return new DashboardLinkBuilder('LLM dashboards')
    .type(DashboardLinkType.Dashboards)
    .tags([tag])
    .asDropdown(true)
    .includeVars(true)
    .keepTime(true)
    .targetBlank(false)
    .icon('external link')
    .tooltip('The other dashboards, with the same time range and variables')
    .url('');
}
