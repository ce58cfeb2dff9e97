/** The SDKs are released with Windfall: what a developer copies names the version that exists. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { at } from '../../tools/bundle.mjs'

const { version } = JSON.parse(readFileSync(at('package.json'), 'utf8')) as { version: string }

test.each([
  ['sdk/android/pom.xml', /<artifactId>windfall-android<\/artifactId>\s*<version>(.*?)<\/version>/g],
  ['sdk/android/README.md', /windfall-android:([\w.-]+)/g],
  ['sdk/android/example/app/build.gradle.kts', /windfall-android:([\w.-]+)/g],
  ['sdk/swift/README.md', /\bfrom: "(.*?)"/g],
  ['README.md', /windfall-(\d[\d.]*\d)-linux/g],
])('%s names the version of Windfall', (path, pattern) => {
  const named = [...readFileSync(at(path), 'utf8').matchAll(pattern)].map(([, one]) => one)
  expect(named.length).toBeGreaterThan(0)
  expect(new Set(named)).toEqual(new Set([version]))
})
