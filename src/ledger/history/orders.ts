/** Looks up order ids, which Apple's receipts to customers contain and signed transactions do not. */
import type { Verifier } from '../../apple/jws/signed.ts'
import { verifyTransaction } from '../../apple/notification.ts'
import type { AppleClients } from '../../apps/apple_clients.ts'
import type { App } from '../../apps/apps.ts'

/** The order id of a receipt, such as `MQK4N2B7XW`. Apple does not document the format. */
const ORDER_ID = /^M[A-Z0-9]{8,19}$/

/** An order id as a customer may write it, in Apple's form; null for any other text. */
export function orderIdIn(text: string): string | null {
  const id = text.replaceAll(/\s/g, '').toUpperCase()
  return ORDER_ID.test(id) && /\d/.test(id) ? id : null
}

type Deps = { verifier: Verifier; appleClients: Pick<AppleClients, 'server'> }

export type Orders = ReturnType<typeof openOrders>

export function openOrders({ verifier, appleClients }: Deps) {
  /**
   * The original transaction ids of an order, from the first of some apps that has the order. Nothing is stored. Empty if
   * no app has it. Apps without an In-App Purchase key are not asked; null if no app could be asked.
   *
   * Apple: Look Up Order ID. @throws AppleFault, SignatureError.
   */
  async function originalIdsOf(order_id: string, apps: readonly App[]): Promise<string[] | null> {
    let isAsked = false
    for (const app of apps) {
      const server = appleClients.server(app)
      if (!server) continue
      isAsked = true
      const signed = await server.lookUpOrder(order_id)
      const verified = await Promise.all(signed.map((jws) => verifyTransaction(verifier, jws)))
      const own = verified.filter(({ payload }) => payload.bundle_id === app.bundle_id)
      if (own.length > 0) return [...new Set(own.map(({ payload }) => payload.original_transaction_id))]
    }
    return isAsked ? [] : null
  }

  return { originalIdsOf }
}
