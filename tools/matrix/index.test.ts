import { expect, test } from 'vitest'
import { librariesFor, type Package, parseIndex } from './index.ts'

const INDEX = `Package: valkey-tools
Version: 9.1.2-1
Pre-Depends: init-system-helpers (>= 1.54)
Depends: adduser, libgone | libc6 (>= 2.38), libssl3t64:any (>= 3.0.0)
Filename: pool/valkey-tools.deb
SHA256: aa

Package: libc6
Version: 2.43
Depends: libgcc-s1
Filename: pool/libc6.deb
SHA256: bb

Package: libgcc-s1
Version: 14
Depends: gcc-14-base (= 14), libc6
Filename: pool/libgcc-s1.deb
SHA256: cc

Package: gcc-14-base
Version: 14
Filename: pool/gcc-14-base.deb
SHA256: dd

Package: libssl3t64
Version: 3
Filename: pool/libssl3t64.deb
SHA256: ee
`

function packageOf(name: string): Package {
  const found = parseIndex(INDEX).get(name)
  if (found === undefined) throw new Error(`no ${name}`)
  return found
}

test('a package has its version, its place and its hash', () => {
  expect(packageOf('libc6')).toEqual({
    name: 'libc6',
    version: '2.43',
    file: 'pool/libc6.deb',
    sha256: 'bb',
    needs: [['libgcc-s1']],
  })
})

test('a program needs its libraries and theirs, and nothing that configures a machine', () => {
  const libraries = librariesFor([packageOf('valkey-tools')], parseIndex(INDEX))

  expect(libraries.map(({ name }) => name).toSorted()).toEqual([
    'gcc-14-base',
    'libc6',
    'libgcc-s1',
    'libssl3t64',
  ])
})

test('a library that the suite does not have is named', () => {
  const index = new Map([...parseIndex(INDEX)].filter(([name]) => name !== 'libssl3t64'))

  expect(() => librariesFor([packageOf('valkey-tools')], index)).toThrow('valkey-tools needs libssl3t64')
})
