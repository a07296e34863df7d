import { arch, cpus, release, totalmem, type } from 'node:os';
import type { MachineFacts } from '../../core/run/provenance.ts';

/** The machine that this program runs on. */
export function machineFacts(): MachineFacts {
  const cores = cpus();
  return {
    cores: cores.length,
    cpu_model: cores[0]?.model.trim() || null,
    memory_bytes: totalmem(),
    kernel: `${type()} ${release()}`,
    architecture: arch(),
    node_version: process.versions.node,
  };
}
