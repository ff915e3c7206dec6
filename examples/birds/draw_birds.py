"""Draws the stand-in for the article's data set: chickens and turkeys, 120 training and 100 validation pictures each.

    python draw_birds.py FOLDER [--train 120] [--val 100] [--size 128] [--seed 0]

Writes FOLDER/{train,val}/{chickens,turkeys}/NNN.jpg and is done in seconds. No network, the same pictures for the same seed. The two
birds share colours, poses, backgrounds and light, so brightness alone tells nothing: what differs is the shape (comb and short
tail against a bald head with a wattle and a fan, which is folded in a third of the turkeys).
"""

import argparse
import math
import os
import random

from PIL import Image, ImageDraw, ImageFilter

CLASSES = ("chickens", "turkeys")
PLUMAGE = [(245, 240, 228), (196, 132, 66), (120, 72, 40), (66, 48, 40), (168, 90, 52), (214, 190, 150), (90, 84, 82)]
SKIES = [(150, 200, 240), (235, 225, 200), (205, 215, 220), (250, 200, 150), (120, 150, 180)]
GROUNDS = [(104, 146, 70), (168, 142, 96), (136, 120, 100), (200, 190, 150), (84, 104, 60)]


def make_birds(folder, train=120, val=100, size=128, seed=0):
    """Write the pictures; returns how many there are. A folder that is complete already is left as it is."""
    counts = {"train": train, "val": val}
    done = os.path.join(folder, ".complete-%d-%d-%d-%d" % (train, val, size, seed))
    if not os.path.exists(done):
        for part, count in counts.items():
            for label, name in enumerate(CLASSES):
                target = os.path.join(folder, part, name)
                os.makedirs(target, exist_ok=True)
                for i in range(count):
                    rng = random.Random("%d-%s-%s-%d" % (seed, part, name, i))
                    draw_bird(rng, label, size).save(os.path.join(target, "%03d.jpg" % i), quality=88)
        open(done, "w").close()
    return (train + val) * len(CLASSES)


def draw_bird(rng, label, size=128):
    """One picture: label 0 is a chicken, 1 a turkey."""
    big = size * 2  # drawn large and scaled down, which smooths the edges
    picture = Image.new("RGB", (big, big))
    draw = ImageDraw.Draw(picture)
    _background(draw, rng, big)
    scale = big * rng.uniform(0.24, 0.34)
    x, y = big * rng.uniform(0.38, 0.62), big * rng.uniform(0.48, 0.64)
    (_chicken if label == 0 else _turkey)(draw, rng, x, y, scale)
    _grass(draw, rng, big)
    if rng.random() < 0.5:
        picture = picture.transpose(Image.FLIP_LEFT_RIGHT)
    picture = picture.rotate(rng.uniform(-14, 14), resample=Image.BILINEAR, fillcolor=_shade(rng.choice(GROUNDS), rng))
    picture = picture.resize((size, size), Image.LANCZOS)
    if rng.random() < 0.3:
        picture = picture.filter(ImageFilter.GaussianBlur(rng.uniform(0.3, 1.1)))
    light = rng.uniform(0.7, 1.2)
    noise = Image.effect_noise((size, size), rng.uniform(6, 26)).convert("RGB")
    return Image.blend(picture.point(lambda v: min(255, int(v * light))), noise, rng.uniform(0.02, 0.10))


def _chicken(draw, rng, x, y, s):
    body = _shade(rng.choice(PLUMAGE), rng)
    dark = _darker(body)
    red = _shade((206, 38, 34), rng)
    for i in range(rng.randint(3, 5)):  # a short tail of a few upright feathers
        angle = math.radians(200 + i * rng.uniform(10, 16))
        _feather(draw, x - s * 0.75, y - s * 0.2, angle, s * rng.uniform(0.55, 0.8), s * 0.13, dark)
    _legs(draw, rng, x, y, s)
    _ellipse(draw, x, y, s, s * rng.uniform(0.66, 0.8), body)
    _ellipse(draw, x - s * 0.1, y + s * 0.05, s * 0.55, s * 0.36, dark)
    head_x, head_y = x + s * rng.uniform(0.75, 0.95), y - s * rng.uniform(0.7, 1.0)
    draw.polygon(
        [
            (x + s * 0.3, y - s * 0.4),
            (x + s * 0.9, y + s * 0.05),
            (head_x + s * 0.2, head_y),
            (head_x - s * 0.2, head_y),
        ],
        fill=body,
    )
    for i in range(rng.randint(3, 4)):  # the comb
        _ellipse(draw, head_x - s * 0.16 + i * s * 0.12, head_y - s * 0.26, s * 0.09, s * 0.13, red)
    _ellipse(draw, head_x, head_y, s * 0.27, s * 0.26, body)
    _ellipse(draw, head_x + s * 0.16, head_y + s * 0.27, s * 0.08, s * 0.13, red)
    _face(draw, rng, head_x, head_y, s)


def _turkey(draw, rng, x, y, s):
    body = _shade(rng.choice(PLUMAGE), rng)
    dark, pale = _darker(body), _shade((214, 190, 150), rng)
    skin = _shade(rng.choice([(150, 160, 190), (200, 80, 80), (190, 120, 130)]), rng)
    if rng.random() < 0.67:  # the fan, spread
        feathers, span, reach = rng.randint(9, 13), rng.uniform(150, 200), rng.uniform(1.25, 1.6)
        for i in range(feathers):
            angle = math.radians(270 - 20 - span / 2 + span * i / (feathers - 1))
            _feather(draw, x - s * 0.3, y - s * 0.1, angle, s * reach, s * 0.2, dark)
            _feather(draw, x - s * 0.3, y - s * 0.1, angle, s * reach * 0.82, s * 0.16, body)
            tip = (x - s * 0.3 + math.cos(angle) * s * reach * 0.86, y - s * 0.1 + math.sin(angle) * s * reach * 0.86)
            _ellipse(draw, tip[0], tip[1], s * 0.11, s * 0.11, pale)
    else:  # folded: long and hanging
        for i in range(4):
            _feather(
                draw, x - s * 0.5, y + s * 0.1, math.radians(158 + i * 8), s * rng.uniform(1.1, 1.35), s * 0.15, dark
            )
    _legs(draw, rng, x, y, s)
    _ellipse(draw, x, y, s * 0.98, s * rng.uniform(0.76, 0.9), body)
    for i in range(5):  # barred wing
        draw.arc(
            [x - s * 0.7 + i * s * 0.1, y - s * 0.35, x + s * 0.3 + i * s * 0.1, y + s * 0.5],
            20,
            120,
            fill=dark,
            width=max(1, int(s * 0.05)),
        )
    head_x, head_y = x + s * rng.uniform(0.8, 1.0), y - s * rng.uniform(0.8, 1.1)
    draw.line([(x + s * 0.55, y - s * 0.3), (head_x, head_y)], fill=skin, width=int(s * rng.uniform(0.18, 0.26)))
    _ellipse(draw, head_x, head_y, s * 0.2, s * 0.18, skin)  # bald: no comb
    for i in range(rng.randint(2, 4)):  # the wattle hangs down the neck
        _ellipse(
            draw,
            head_x + s * 0.08 - i * s * 0.05,
            head_y + s * (0.2 + i * 0.14),
            s * 0.08,
            s * 0.14,
            _shade((196, 40, 44), rng),
        )
    _face(draw, rng, head_x, head_y, s * 0.85)


def _background(draw, rng, big):
    sky, ground = _shade(rng.choice(SKIES), rng), _shade(rng.choice(GROUNDS), rng)
    horizon = int(big * rng.uniform(0.35, 0.7))
    for y in range(big):
        base, depth = (sky, y / max(1, horizon)) if y < horizon else (ground, (big - y) / (big - horizon))
        draw.line([(0, y), (big, y)], fill=tuple(int(c * (0.75 + 0.25 * depth)) for c in base))
    for _ in range(rng.randint(0, 4)):  # posts, bushes, barns: things in the way
        x, width, height = rng.uniform(0, big), big * rng.uniform(0.03, 0.2), big * rng.uniform(0.05, 0.3)
        shape = draw.rectangle if rng.random() < 0.5 else draw.ellipse
        shape([x, horizon - height, x + width, horizon + height * 0.3], fill=_shade(rng.choice(PLUMAGE + GROUNDS), rng))


def _grass(draw, rng, big):
    colour = _shade(rng.choice(GROUNDS), rng)
    for _ in range(rng.randint(0, 40)):
        x, height = rng.uniform(0, big), big * rng.uniform(0.03, 0.12)
        draw.line([(x, big), (x + rng.uniform(-8, 8), big - height)], fill=colour, width=rng.randint(1, 3))


def _legs(draw, rng, x, y, s):
    colour = _shade((222, 160, 60), rng)
    for side in (-0.2, 0.2):
        foot = (x + side * s + rng.uniform(-0.1, 0.1) * s, y + s * 1.15)
        draw.line([(x + side * s, y + s * 0.5), foot], fill=colour, width=max(2, int(s * 0.07)))
        draw.line(
            [(foot[0] - s * 0.12, foot[1]), (foot[0] + s * 0.2, foot[1])], fill=colour, width=max(2, int(s * 0.06))
        )


def _face(draw, rng, x, y, s):
    beak = _shade((232, 176, 48), rng)
    draw.polygon([(x + s * 0.2, y - s * 0.06), (x + s * 0.46, y + s * 0.03), (x + s * 0.2, y + s * 0.1)], fill=beak)
    _ellipse(draw, x + s * 0.07, y - s * 0.05, s * 0.045, s * 0.045, (15, 12, 10))


def _feather(draw, x, y, angle, length, width, colour):
    tip = (x + math.cos(angle) * length, y + math.sin(angle) * length)
    side = (math.cos(angle + math.pi / 2) * width, math.sin(angle + math.pi / 2) * width)
    draw.polygon([(x, y), (tip[0] - side[0], tip[1] - side[1]), (tip[0] + side[0], tip[1] + side[1])], fill=colour)
    _ellipse(draw, tip[0], tip[1], width, width, colour)


def _ellipse(draw, x, y, rx, ry, colour):
    draw.ellipse([x - rx, y - ry, x + rx, y + ry], fill=colour)


def _shade(colour, rng):
    return tuple(max(0, min(255, int(c * rng.uniform(0.86, 1.14)))) for c in colour)


def _darker(colour):
    return tuple(int(c * 0.62) for c in colour)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    for option, default in (("train", 120), ("val", 100), ("size", 128), ("seed", 0)):
        parser.add_argument("--" + option, type=int, default=default)
    args = parser.parse_args()
    print("%d pictures in %s" % (make_birds(args.folder, args.train, args.val, args.size, args.seed), args.folder))
