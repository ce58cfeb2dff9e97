/**
 * Kills in every gap between two operations: each scenario runs once for each operation of the storage and the network, is
 * killed before or after it, and goes on. The gaps: between the intention of identify and each of its items, between what
 * is kept of the anonymous id and its item, between a joined item and the one it replaces, between an answer, its record
 * and the removal of its item, between the date of a proof and its item, and between a lease and its end.
 */
import { expect, test } from 'vitest'
import { type Command, openRun } from './commands.ts'

const identify = (user: string): Command => ({ do: 'call', call: { call: 'identify', user, value: 0 } })
const setAttributes: Command = { do: 'call', call: { call: 'setAttributes', name: 'a', value: 0 } }
const reset: Command = { do: 'call', call: { call: 'reset' } }
const buy = (purchase: string, jws?: string): Command => ({
  do: 'call',
  call: { call: 'attributePurchase', purchase, isAsked: true, ...(jws && { jws }) },
})
const observe = (purchase: string): Command => ({
  do: 'call',
  call: { call: 'attributePurchase', purchase, isAsked: false },
})
const offline: Command = { do: 'network', mode: 'offline' }
const open: Command = { do: 'network', mode: 'open' }
const full: Command = { do: 'storage', mode: 'full' }
const flush: Command = { do: 'flush' }
const day: Command = { do: 'pass', ms: 26 * 3_600_000 }
const bad = 'eyJhIjoxfQ.eyJ0cmFuc2FjdGlvbklkIjoiMSJ9.bad'

/** What comes before the kill, what is killed, and what comes after it. */
const SCENARIOS: Record<string, [Command[], Command[], Command[]]> = {
  'attributes of the anonymous id': [[], [setAttributes], [identify('ann')]],
  'attributes that join': [[offline, setAttributes], [setAttributes], [open, flush, identify('ann')]],
  'a purchase of the anonymous id': [[], [buy('1')], [identify('ann')]],
  'a login': [[setAttributes, buy('1'), buy('2')], [identify('ann')], [flush]],
  'a login offline': [[offline, setAttributes, buy('1'), buy('2')], [identify('ann')], [open, flush]],
  'a login, then a purchase that nobody asked for': [
    [buy('1')],
    [identify('ann')],
    [observe('1'), reset, observe('1')],
  ],
  'another user': [[identify('ann'), buy('1')], [identify('bob')], [buy('1'), setAttributes]],
  'a logout': [[identify('ann'), buy('1')], [reset], [observe('1'), setAttributes]],
  'a logout with a full storage': [[identify('ann'), full], [reset], [buy('1')]],
  sending: [[offline, identify('ann'), buy('1'), setAttributes, reset, buy('1')], [open, flush], [flush]],
  'a refused proof': [[], [buy('1', bad)], [identify('ann'), day]],
  'a login after a refused proof': [[buy('1', bad)], [identify('ann')], [day, flush]],
  'a refused proof of a purchase that moved': [
    [identify('ann'), buy('1', bad), identify('bob')],
    [buy('1')],
    [day],
  ],
  'a proof refused after the login': [
    [offline, buy('1', bad), identify('ann')],
    [open, flush],
    [day, flush],
  ],
  'sending before a logout': [
    [offline, identify('ann'), buy('1')],
    [open, flush],
    [flush, reset, observe('1')],
  ],
  'a proof refused after another user has the purchase': [
    [offline, identify('ann'), buy('1', bad), identify('bob'), buy('1')],
    [open, flush],
    [day, flush],
  ],
  'a proof that moved, with a full storage': [
    [identify('ann'), buy('1', bad), identify('bob'), full],
    [buy('1', 'eyJhIjoxfQ.eyJ0cmFuc2FjdGlvbklkIjoiMSJ9.good')],
    [{ do: 'storage', mode: 'good' }, day],
  ],
  'a purchase that moved, with a full storage': [
    [identify('ann'), buy('1', bad), identify('bob'), full],
    [buy('1')],
    [{ do: 'storage', mode: 'good' }, day],
  ],
  'the daily try of a proof': [[identify('ann'), buy('1', bad)], [day], [identify('bob'), buy('1')]],
}

for (const [name, [before, killed, after]] of Object.entries(SCENARIOS)) {
  test(`a kill at each step of ${name}`, async () => {
    let steps = 0
    for (let isKilled = true; isKilled; ) {
      steps += 1
      const run = await openRun()
      for (const one of before) await run.execute(one)
      await run.execute({ do: 'doom', steps })
      for (const one of killed) await run.execute(one)
      isKilled = run.kills() > 0
      for (const one of after) await run.execute(one)
      await run.finish().catch((error) => {
        throw new Error(`killed after ${steps} half steps: ${error.message}`)
      })
    }
    expect(steps).toBeGreaterThan(10)
  })
}
