/** The folder that apps use as a Maven repository. Only a long run builds it, because the pages of the API take a while. */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { at } from '../../tools/bundle.mjs'

const { version } = JSON.parse(readFileSync(at('package.json'), 'utf8'))
const FOLDER = at(`sdk/android/target/repository/dev/windfall/windfall-android/${version}`)
const FILES = ['-javadoc.jar', '-sources.jar', '.aar', '.pom'].map(
  (ending) => `windfall-android-${version}${ending}`,
)
const isLong = process.env.WINDFALL_LONG === '1'
const bytesOf = (name: string) => readFileSync(join(FOLDER, name))

test.runIf(isLong)('the repository has the files that Maven Central asks for, with checksums', () => {
  const expected = FILES.flatMap((name) => [name, `${name}.md5`, `${name}.sha1`]).sort()
  expect(readdirSync(FOLDER).sort()).toEqual(expected)
  for (const name of FILES)
    for (const algorithm of ['md5', 'sha1']) {
      const hash = createHash(algorithm).update(bytesOf(name)).digest('hex')
      expect(bytesOf(`${name}.${algorithm}`).toString().trim()).toBe(hash)
    }
})

test.runIf(isLong)('the POM describes an AAR that needs the standard library of Kotlin only', () => {
  const pom = bytesOf(`windfall-android-${version}.pom`).toString()
  expect(pom).toContain(`<version>${version}</version>`)
  for (const element of [
    '<packaging>aar<',
    '<name>',
    '<description>',
    '<url>',
    '<developer>',
    '<scm>',
    'MIT',
  ])
    expect(pom).toContain(element)
  const dependencies = [...pom.matchAll(/<dependency>\s*(.*?)\s*<\/dependency>/gs)].map(([, text]) => text)
  expect(dependencies).toHaveLength(1)
  expect(dependencies[0]).toMatch(/<artifactId>kotlin-stdlib<\/artifactId>\s*<version>2\.0\.21<\/version>/)
  expect(pom).not.toMatch(/\$\{|<build>|<properties>|<profiles>/)
})

test.runIf(isLong)('the sources and the pages are about the public API', () => {
  const list = (name: string) =>
    execFileSync('jar', ['--list', '--file', join(FOLDER, name)], { encoding: 'utf8' })
  expect(list(`windfall-android-${version}-sources.jar`)).toContain('dev/windfall/Windfall.kt')
  const pages = list(`windfall-android-${version}-javadoc.jar`)
  expect(pages).toContain('dev/windfall/Windfall.html')
  expect(pages).not.toContain('dev/windfall/core/')
})
