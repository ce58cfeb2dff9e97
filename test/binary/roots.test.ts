/** The executable trusts Apple's roots and no other. */
import { expect, test } from 'vitest'
import { APP_ATTEST_ROOTS } from '../../src/apple/attest/roots.ts'
import { APPLE_ROOTS } from '../../src/apple/jws/roots.ts'
import { HOST, strippedNode, TARGETS } from '../../tools/binary/targets.ts'
import { certificatesIn, certificatesInText, passkeyCertificates } from '../tools/certificates_in.ts'
import { executable, has } from './executable.ts'

test.runIf(has(executable))(
  "the executable contains Apple's two roots beside those of Node and of passkeys",
  () => {
    const target = TARGETS[HOST]
    if (target === undefined) throw new Error(`there is no target ${HOST}`)
    const others = new Set([...certificatesIn(strippedNode(HOST, target)), ...passkeyCertificates()])
    const added = certificatesIn(executable).filter((one) => !others.has(one))
    expect(added).toEqual(certificatesInText([...APPLE_ROOTS, ...APP_ATTEST_ROOTS].join('')))
  },
)
