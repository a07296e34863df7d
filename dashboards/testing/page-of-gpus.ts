/** Which of the metrics pages of simulated systems is that of their GPUs, as the DCGM exporter writes it. */
export async function pageOfGpus(urls: readonly string[]): Promise<string> {
  for (const url of urls) {
    const page = await (await fetch(url)).text();
    if (page.includes('DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{')) return url;
  }
  throw new Error('no simulated system has a page of its GPUs');
}
