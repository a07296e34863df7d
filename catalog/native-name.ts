import { WITHIN_RAY } from './within-ray.ts';

/**
 * The name that the engine itself gives to a family: without the prefix of Ray (`ray_vllm:num_requests_running`), and
 * with the colon of SGLang's engine, which its gateway writes as an underscore.
 */
export function nativeName(name: string): string {
  const [, engine, rest] = WITHIN_RAY.exec(name) ?? [];
  if (engine !== undefined) return `${engine}:${rest ?? ''}`;
  return name.startsWith('sglang_') ? `sglang:${name.slice('sglang_'.length)}` : name;
}
