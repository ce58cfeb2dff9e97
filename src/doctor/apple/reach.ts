/** Finds out which of Apple's APIs this machine can reach, and how far its clock is from Apple's. */
import { APPLE_HOSTS, type AppleHosts } from '../../apple/api/hosts.ts'
import { serverTime } from '../../apple/time.ts'
import type { Clock } from '../../clock.ts'

/** The answer of one host. `problem` is null if it answered. */
type HostReach = { origin: string; problem: string | null }

/** `ahead_ms`: how far the clock of this machine is ahead of Apple's; null if no answer had a time. */
export type AppleReach = { hosts: HostReach[]; connect: boolean; server: boolean; ahead_ms: number | null }

/** Every origin of Apple's APIs, App Store Connect first. */
const originsOf = ({ connect, server }: AppleHosts): string[] => [
  ...new Set([connect, server.production, server.sandbox]),
]

/** Whether these are Apple's own hosts and not those of the demo. */
export const isRealApple = (hosts: AppleHosts): boolean =>
  originsOf(hosts).join() === originsOf(APPLE_HOSTS).join()

/** Sends a request to every host at the same time. */
export async function reachApple(hosts: AppleHosts, clock: Clock): Promise<AppleReach> {
  const answers = await Promise.all(
    originsOf(hosts).map(async (origin) => {
      try {
        const apple_ms = await serverTime(origin)
        return { origin, problem: null, ahead_ms: apple_ms === null ? null : clock() - apple_ms }
      } catch (error) {
        return { origin, problem: errorText(error), ahead_ms: null }
      }
    }),
  )
  const isReached = (wanted: string): boolean =>
    answers.some(({ origin, problem }) => origin === wanted && problem === null)
  return {
    hosts: answers.map(({ origin, problem }) => ({ origin, problem })),
    connect: isReached(hosts.connect),
    server: isReached(hosts.server.production),
    ahead_ms: answers.find(({ ahead_ms }) => ahead_ms !== null)?.ahead_ms ?? null,
  }
}

/** The code of a network error, such as ECONNREFUSED; otherwise its message. */
export function errorText(error: unknown): string {
  const { message } = error instanceof Error ? error : new Error(String(error))
  return error instanceof Error && 'code' in error ? String(error.code) : message
}
