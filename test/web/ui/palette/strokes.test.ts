import { expect, test } from 'vitest'
import { isSearchPress, openStrokes } from '../../../../src/web/ui/frame/strokes.ts'

const NONE = { ctrlKey: false, metaKey: false, altKey: false, shiftKey: false, timeStamp: 0 }
const press = (key: string, fields: Partial<typeof NONE & { code: string }> = {}) => ({
  ...NONE,
  key,
  code: `Key${key.toUpperCase()}`,
  ...fields,
})

test('the search opens with ⌘K on Apple’s keyboards and with Ctrl+K on others', () => {
  const command = press('k', { metaKey: true })
  const control = press('k', { ctrlKey: true })
  expect([isSearchPress(command, true), isSearchPress(control, true)]).toEqual([true, false])
  expect([isSearchPress(command, false), isSearchPress(control, false)]).toEqual([false, true])
  expect(isSearchPress({ ...control, shiftKey: true }, false)).toBe(false)
  expect(isSearchPress({ ...control, altKey: true }, false)).toBe(false)
  expect(isSearchPress({ ...control, metaKey: true }, false)).toBe(false)
  expect(isSearchPress(press('K', { ctrlKey: true }), false)).toBe(true)
  expect(isSearchPress(press('k'), false)).toBe(false)
})

test('a letter counts before the place of its key, and the place where there are no Latin letters', () => {
  const inDvorak = { ctrlKey: true, code: 'KeyV' }
  expect(isSearchPress(press('k', inDvorak), false)).toBe(true)
  expect(isSearchPress(press('t', { ctrlKey: true, code: 'KeyK' }), false)).toBe(false)
  expect(isSearchPress(press('л', { ctrlKey: true, code: 'KeyK' }), false)).toBe(true)
  const read = openStrokes()
  expect([read(press('п', { code: 'KeyG' })), read(press('к', { code: 'KeyR' }))]).toEqual([null, 'g r'])
})

test('G belongs to the next key if it follows soon', () => {
  const read = openStrokes()
  const at = (key: string, timeStamp: number) => read(press(key, { timeStamp }))
  expect([at('g', 0), at('r', 2_000)]).toEqual([null, 'g r'])
  expect(at('r', 2_001)).toBe('r')
  expect([at('g', 3_000), at('r', 5_001)]).toEqual([null, 'r'])
  expect([at('g', 6_000), at('g', 6_001), at('r', 6_002)]).toEqual([null, 'g g', 'r'])
})

test('a modifier makes a key no shortcut and ends a G; Shift is part of a character', () => {
  const read = openStrokes()
  for (const modifier of ['ctrlKey', 'metaKey', 'altKey', 'shiftKey']) {
    expect(read(press('g')), modifier).toBeNull()
    expect(read(press('r', { [modifier]: true })), modifier).toBeNull()
    expect(read(press('r')), modifier).toBe('r')
  }
  expect(read(press('?', { shiftKey: true, code: 'Slash' }))).toBe('?')
  expect(read(press('/', { shiftKey: true, code: 'Digit7' }))).toBe('/')
})
