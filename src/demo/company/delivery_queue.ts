/** What we remember: what the simulated world has to deliver, until somebody pulls it. */
import { type Signing, signerOf, signerSoonOf } from '../signing/signatures.ts'
import { type Draft, type Step, signStep, signStepSoon } from '../world/steps.ts'
import type { World } from '../world/world.ts'

/** So many steps are signed at once. */
const SIGNED_AHEAD = 32

/** The world is played by whoever needs it to have got so far; what it delivers waits here, in order. */
export function openTape(world: World, authority: Signing) {
  const sign = signerOf(authority)
  const signSoon = signerSoonOf(authority)
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

  /** What waits comes first; the world is played only as far as the next delivery. */
  function* drafts(until: number): Generator<Draft> {
    for (;;) {
      let draft = takeUntil(until)
      if (draft === undefined && waiting.length === 0) draft = world.play(until).next().value ?? undefined
      if (draft === undefined) return
      yield draft
    }
  }

  return {
    /** One pass up to and including `until`. Each is signed when it is pulled. */
    *pull(until: number): Generator<Step> {
      for (const draft of drafts(until)) if (!isLost(draft)) yield signStep(draft, sign)
    },
    /** The same pass, signed ahead on the thread pool. */
    async *pullAhead(until: number): AsyncGenerator<Step> {
      const signing: Promise<Step>[] = []
      for (const draft of drafts(until)) {
        if (isLost(draft)) continue
        const next = signing.length < SIGNED_AHEAD ? undefined : signing.shift()
        signing.push(signStepSoon(draft, signSoon))
        if (next !== undefined) yield next
      }
      yield* signing
    },
    catchUp(until: number): void {
      for (const draft of world.play(until)) waiting.push(draft)
    },
    pass(until: number): void {
      for (const _ of drafts(until));
    },
  }
}
