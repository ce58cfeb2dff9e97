/** The state of this process, for a support bundle: memory, processor time, handles and versions. */
import { readdirSync } from 'node:fs'
import { arch, availableParallelism, freemem, loadavg, platform, release, totalmem } from 'node:os'

/** Sizes are in bytes, times in milliseconds. `descriptors` is null where the system does not list them. */
export function processState() {
  const { user, system } = process.cpuUsage()
  return {
    platform: platform(),
    arch: arch(),
    kernel: release(),
    node: process.versions.node,
    processors: availableParallelism(),
    load: loadavg(),
    total_memory_bytes: totalmem(),
    free_memory_bytes: freemem(),
    uptime_ms: Math.round(process.uptime() * 1000),
    cpu_user_ms: Math.round(user / 1000),
    cpu_system_ms: Math.round(system / 1000),
    memory: process.memoryUsage(),
    resources: resourceCounts(),
    descriptors: descriptorCount(),
  }
}

/** How many handles and requests of each kind keep the event loop busy. */
function resourceCounts(): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const kind of process.getActiveResourcesInfo()) counts[kind] = (counts[kind] ?? 0) + 1
  return counts
}

function descriptorCount(): number | null {
  try {
    return readdirSync('/proc/self/fd').length
  } catch {
    return null
  }
}
