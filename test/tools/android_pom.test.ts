/** The Android SDK is released with Windfall. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { at } from '../../tools/bundle.mjs'

test('the Android SDK has the version of Windfall', () => {
  const { version } = JSON.parse(readFileSync(at('package.json'), 'utf8'))
  const pom = readFileSync(at('sdk/android/pom.xml'), 'utf8')
  expect(pom.match(/<artifactId>windfall-android<\/artifactId>\s*<version>(.*?)<\/version>/)?.[1]).toBe(
    version,
  )
})
