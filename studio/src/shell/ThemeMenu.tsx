import { Menu } from "@/components/Menu";
import { chooseTheme, useTheme, useThemeChoice } from "@/theme/theme";

export function ThemeMenu() {
  const choice = useThemeChoice();
  const theme = useTheme();
  return (
    <Menu
      label="Theme"
      icon={theme === "dark" ? "moon" : "sun"}
      isIconOnly
      items={[
        { label: "As the system", icon: "screen", isChosen: choice === "system", run: () => chooseTheme("system") },
        { label: "Light", icon: "sun", isChosen: choice === "light", run: () => chooseTheme("light") },
        { label: "Dark", icon: "moon", isChosen: choice === "dark", run: () => chooseTheme("dark") },
      ]}
    />
  );
}
