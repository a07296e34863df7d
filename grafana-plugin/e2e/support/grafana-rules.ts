/**
 * What Grafana 12.4 answers at /api/prometheus/grafana/api/v1/rules for two provisioned rules, one of which fires: members and
 * their forms as a running one has them.
 */
export function grafanaRules(scenario: string, activeAt: string): object {
  const common = {
    query: 'max by (scenario) (llmbench_scenario_consecutive_undecided_checks) >= 3',
    queriedDatasourceUIDs: ['prometheus'],
    folderUid: 'llm-benchmarks',
    type: 'alerting',
    health: 'ok',
    evaluationTime: 0.003,
    isPaused: false,
    provenance: 'file',
  };
  const annotations = {
    summary: `Scenario ${scenario} cannot be decided`,
    description: `The last 3 checks of scenario ${scenario} were undecided. A regression would not be found.`,
    runbook_url: 'docs/runbooks/LlmScenarioUndecided.md',
  };
  const rules = [
    {
      ...common,
      state: 'firing',
      name: 'LlmScenarioUndecided',
      activeAt,
      annotations,
      alerts: [
        {
          labels: {
            alertname: 'LlmScenarioUndecided',
            grafana_folder: 'LLM benchmarks',
            scenario,
            severity: 'warning',
          },
          annotations,
          state: 'Alerting',
          activeAt,
          value: '1e+00',
        },
        {
          labels: { alertname: 'LlmScenarioUndecided', scenario: 'quiet' },
          annotations,
          state: 'Normal',
          activeAt,
          value: '',
        },
      ],
      totals: { alerting: 1, normal: 1 },
      totalsFiltered: { alerting: 1, normal: 1 },
      uid: 'llmbench-LlmScenarioUndecided',
      labels: { severity: 'warning' },
      lastEvaluation: activeAt,
    },
    {
      ...common,
      state: 'inactive',
      name: 'LlmScenarioOverdue',
      annotations: { runbook_url: 'docs/runbooks/LlmScenarioOverdue.md' },
      uid: 'llmbench-LlmScenarioOverdue',
      labels: { severity: 'warning' },
      lastEvaluation: '0001-01-01T00:00:00Z',
      isPaused: true,
    },
  ];
  const group = { name: 'llmbench-scenarios', file: 'LLM benchmarks', folderUid: 'llm-benchmarks', interval: 10 };
  return {
    status: 'success',
    data: {
      groups: [
        { ...group, rules, totals: { firing: 1, inactive: 1 }, lastEvaluation: activeAt, evaluationTime: 0.006 },
      ],
      totals: { firing: 1, inactive: 1 },
    },
  };
}
