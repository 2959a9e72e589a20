/** What the tasks are made of. Every word is one token with the space before it, so that copying is looking one place back. */

const list = (text: string): readonly string[] => text.trim().split(/\s+/);

export const words = list(`
  apple river stone cloud tiger lemon maple ocean piano queen robin sugar table uncle violet water yellow zebra anchor basket candle dragon eagle
  forest garden hammer island jacket kettle ladder market needle orange pencil rabbit saddle temple umbrella valley window amber beach coral dawn
  ember flame grape honey ivory jelly koala lotus mango night olive pearl quartz rose silver thunder velvet walnut autumn bridge copper desert
  engine feather glacier harbor insect jungle kitten lantern meadow nickel oyster pepper quilt rocket salmon turtle vapor willow acorn bamboo
  cactus diamond elbow fossil goblin hazel igloo jasper kernel lizard magnet nectar onion parrot quiver ribbon spider tulip urchin vessel wagon
  yogurt zipper badger cherry donkey falcon ginger hornet indigo jaguar kiwi lobster monkey noodle otter panda raven shadow trumpet viper whale
  bronze canyon dolphin emerald fiddle granite helmet iris jewel knight lilac marble nugget orchid pebble radish sapphire tundra vine wizard`);

/** Without the ending. */
export const fileNames = list(`
  notes data report list memo draft page index plan main item query score result input output value count total record entry state config cache
  image model batch trace sheet ledger diary letter recipe menu budget agenda survey digest roster catalog manual script poem story chart graph
  label ticket order invoice receipt bill quote review summary outline`);

export const folderNames = list(
  "docs logs bin src lib tmp home work store vault shelf attic cellar closet drawer folder archive backup public private",
);

export const endings = ["txt", "md", "log"] as const;
