/** The queue of simulated steps that have not been delivered yet. */
import { asyncSignerOf, type Signing, signerOf } from '../signing/signatures.ts'
import { type Draft, type Step, signStep, signStepAsync } from '../world/steps.ts'
import type { World } from '../world/world.ts'

/** The number of steps that are signed concurrently. */
const MAX_SIGNING = 32

/** Opens the queue. Every reader can advance the world. Steps that no reader has taken wait in the queue, in order. */
export function openDeliveryQueue(world: World, authority: Signing) {
  const sign = signerOf(authority)
  const signAsync = asyncSignerOf(authority)
  let queuedDrafts: Draft[] = []
  let nextIndex = 0

  const isLost = (draft: Draft) => draft.kind === 'notification' && world.sent.isLost(draft.payload)

  function takeUntil(until: number): Draft | undefined {
    const draft = queuedDrafts[nextIndex]
    if (draft === undefined || draft.at > until) return undefined
    nextIndex += 1
    if (nextIndex === queuedDrafts.length) {
      queuedDrafts = []
      nextIndex = 0
    }
    return draft
  }

  /** Yields the waiting steps first. Then advances the world one step at a time, and yields each step. */
  function* takeDrafts(until: number): Generator<Draft> {
    for (;;) {
      let draft = takeUntil(until)
      if (draft === undefined && queuedDrafts.length === 0) draft = world.run(until).next().value ?? undefined
      if (draft === undefined) return
      yield draft
    }
  }

  return {
    /** Takes the steps up to and including `until`. Signs each step when it is read. */
    *takeSigned(until: number): Generator<Step> {
      for (const draft of takeDrafts(until)) if (!isLost(draft)) yield signStep(draft, sign)
    },
    /** Takes the steps up to and including `until`. Signs `MAX_SIGNING` steps in advance on the thread pool. */
    async *takeSignedAhead(until: number): AsyncGenerator<Step> {
      const signing: Promise<Step>[] = []
      for (const draft of takeDrafts(until)) {
        if (isLost(draft)) continue
        const step = signing.length < MAX_SIGNING ? undefined : signing.shift()
        signing.push(signStepAsync(draft, signAsync))
        if (step !== undefined) yield step
      }
      yield* signing
    },
    catchUp(until: number): void {
      for (const draft of world.run(until)) queuedDrafts.push(draft)
    },
    skip(until: number): void {
      for (const _ of takeDrafts(until));
    },
  }
}
