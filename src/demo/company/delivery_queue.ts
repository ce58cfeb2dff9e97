/** The steps that the simulated world has yet to deliver. */
import { asyncSignerOf, type Signing, signerOf } from '../signing/signatures.ts'
import { type Draft, type Step, signStep, signStepAsync } from '../world/steps.ts'
import type { World } from '../world/world.ts'

/** The number of steps that are signed concurrently. */
const MAX_SIGNING = 32

/** Opens the queue. Any reader can advance the world; its steps wait here in order. */
export function openDeliveryQueue(world: World, authority: Signing) {
  const sign = signerOf(authority)
  const signAsync = asyncSignerOf(authority)
  let waiting: Draft[] = []
  let next = 0

  const isLost = (draft: Draft) => draft.kind === 'notification' && world.sent.isLost(draft.payload)

  function takeUntil(until: number): Draft | undefined {
    const draft = waiting[next]
    if (draft === undefined || draft.at > until) return undefined
    next += 1
    if (next === waiting.length) {
      waiting = []
      next = 0
    }
    return draft
  }

  /** Returns waiting steps first, then advances the world only to the next step. */
  function* drafts(until: number): Generator<Draft> {
    for (;;) {
      let draft = takeUntil(until)
      if (draft === undefined && waiting.length === 0) draft = world.run(until).next().value ?? undefined
      if (draft === undefined) return
      yield draft
    }
  }

  return {
    /** One pass up to and including `until`. Each is signed when it is pulled. */
    *takeSigned(until: number): Generator<Step> {
      for (const draft of drafts(until)) if (!isLost(draft)) yield signStep(draft, sign)
    },
    /** The same pass, signed ahead on the thread pool. */
    async *takeSignedAhead(until: number): AsyncGenerator<Step> {
      const signing: Promise<Step>[] = []
      for (const draft of drafts(until)) {
        if (isLost(draft)) continue
        const next = signing.length < MAX_SIGNING ? undefined : signing.shift()
        signing.push(signStepAsync(draft, signAsync))
        if (next !== undefined) yield next
      }
      yield* signing
    },
    catchUp(until: number): void {
      for (const draft of world.run(until)) waiting.push(draft)
    },
    skip(until: number): void {
      for (const _ of drafts(until));
    },
  }
}
