/** Asks the running server about its webhooks, for `windfall doctor`. */
import type { Config } from '../../config/settings.ts'
import { callControl } from '../../control/socket.ts'
import { Refusal } from '../../errors.ts'
import { type Finding, warning } from '../../health/findings.ts'

/** Yields the findings about webhooks. Without a running server there are none, because nothing is sent. */
export async function* examineWebhooks({ store }: Config): AsyncGenerator<Finding> {
  try {
    const response = await callControl(store.path, 'webhooks.findings.list', {})
    const { findings = [] } = (response?.result ?? {}) as { findings?: readonly Finding[] }
    yield* findings
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    yield warning('webhooks', `the server cannot be asked: ${error.message}`)
  }
}
