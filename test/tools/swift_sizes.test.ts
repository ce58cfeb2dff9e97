/** The sizes of the Swift SDK. */
import { expect, test } from 'vitest'
import { sizesIn } from '../../tools/swift/sizes.ts'

test('the size of objects is their code and constants, with unwinding tables apart', () => {
  const printed = `A.swift.o  :
section            size   addr
.text               100      0
.rodata.cst16        16      0
swift5_typeref        4      0
.data.rel.ro         50      0
.bss                 60      0
.debug_str         7000      0
.eh_frame            30      0
Total              7260

B.swift.o  :
.text                10      0
.eh_frame             5      0
`
  expect(sizesIn(printed)).toEqual({ text: 130, unwinding: 35 })
})
