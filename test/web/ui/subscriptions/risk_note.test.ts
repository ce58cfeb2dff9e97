import { expect, test } from 'vitest'
import { riskNote } from '../../../../src/web/ui/subscriptions/risk_note.ts'

test('says why a customer in a grace period has no MRR at risk', () => {
  const grace = { status: 'grace', risk_milli: 0, unconverted: null } as const
  expect(riskNote(grace)).toBe('trial, not paid yet')
  expect(riskNote({ ...grace, unconverted: { JPY: 6_000 } })).toBe('no rate for JPY')
  expect(riskNote({ ...grace, risk_milli: 5_490 })).toBeNull()
  expect(riskNote({ ...grace, status: 'will_cancel' })).toBeNull()
})
