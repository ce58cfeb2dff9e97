/** Why a customer at risk has no MRR at risk. */
import type { Customer } from '../customers/customer.ts'

type Risk = Pick<Customer, 'status' | 'risk_milli' | 'unconverted'>

/**
 * null if there is an amount. A trial whose first payment fails is in a grace period, too, and MRR contains nothing of it;
 * neither does *Status now*.
 */
export function riskNote({ status, risk_milli, unconverted }: Risk): string | null {
  if (risk_milli > 0) return null
  const currencies = Object.keys(unconverted ?? {})
  if (currencies.length > 0) return `no rate for ${currencies.join(', ')}`
  return status === 'grace' ? 'trial, not paid yet' : null
}
