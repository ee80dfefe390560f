// All that can be made wrong in the product: lua/ and src/, but what is generated.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { luaChanges } from './lua-changes.ts'
import { type Mutant, mutantsOf } from './mutant.ts'
import { tsChanges } from './ts-changes.ts'

// Generated, or a suite: a mutant among assertions says something of drivers that are wrong, and ours are not.
const NOT_PRODUCT = /^src\/(?:generated|testing\/driver-)/

export type Language = 'lua' | 'ts'

export function allMutants(root: string, language: Language): Mutant[] {
  return language === 'lua' ? luaMutants(root) : tsMutants(root)
}

function luaMutants(root: string): Mutant[] {
  const files = filesIn(root, 'lua', '.lua').filter((file) => !file.endsWith('/keys.lua'))
  return files.flatMap((file) => {
    const text = readFileSync(join(root, file), 'utf8')
    return mutantsOf(file, text, luaChanges(text))
  })
}

function tsMutants(root: string): Mutant[] {
  const files = filesIn(root, 'src', '.ts').filter(
    (file) => !file.endsWith('.test.ts') && !NOT_PRODUCT.test(file),
  )
  const changes = tsChanges(root, files)
  return files.flatMap((file) =>
    mutantsOf(file, readFileSync(join(root, file), 'utf8'), changes.get(file) ?? []),
  )
}

function filesIn(root: string, folder: string, ending: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith(ending))
    .map((file) => `${folder}/${file}`)
    .toSorted()
}
