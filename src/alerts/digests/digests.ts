/** Digests: the figures of a day or a week as one message. */
import { openDigestMaking } from './making.ts'
import { openDigestReader } from './reading.ts'
import { openStoredDigests } from './stored.ts'

type Deps = Parameters<typeof openDigestReader>[0] &
  Omit<Parameters<typeof openDigestMaking>[0], 'digests' | 'reader'>

/** Opens digests. Nothing is made before the first call of `make`. */
export function openDigests(deps: Deps) {
  const digests = openStoredDigests(deps.store)
  const reader = openDigestReader(deps)
  return {
    list: digests.list,
    get: digests.get,
    read: reader.read,
    ...openDigestMaking({ ...deps, digests, reader }),
  }
}
