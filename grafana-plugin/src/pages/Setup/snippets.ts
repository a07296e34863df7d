/** Texts to copy; `exporter` is where `llmbench serve` answers, as host and port. */
export interface Snippet {
  id: 'scrape' | 'data-source' | 'app' | 'run';
  language: string;
  text: string;
}

export function snippets(exporter = 'localhost:9469'): Snippet[] {
  return [
    {
      id: 'run',
      language: 'bash',
      text: `npx llmbench serve
npx llmbench run --url http://localhost:8000 --model MODEL --concurrency 8 --request-count 200`,
    },
    {
      id: 'scrape',
      language: 'yaml',
      text: `scrape_configs:
  # llmbench serve: the exact results of finished runs
  - job_name: llmbench
    scrape_interval: 5s
    static_configs:
      - targets: ['${exporter}']

  # runs under way and the servers that they measure, found by http_sd
  - job_name: llmbench-discovered
    scrape_interval: 2s
    scrape_timeout: 2s
    http_sd_configs:
      - url: 'http://${exporter}/sd'
        refresh_interval: 5s`,
    },
    {
      id: 'data-source',
      language: 'yaml',
      text: `# provisioning/datasources/llmbench.yaml
apiVersion: 1
datasources:
  - name: llmbench runs
    uid: llmbench-runs
    type: llmbench-runs-datasource
    access: proxy
    url: http://${exporter}`,
    },
    {
      id: 'app',
      language: 'yaml',
      text: `# provisioning/plugins/llmbench.yaml
apiVersion: 1
apps:
  - type: llmbench-observability-app
    org_id: 1
    disabled: false`,
    },
  ];
}
