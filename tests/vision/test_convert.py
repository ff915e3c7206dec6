"""Convert to Image Directory: layouts, labels, what is left out, what is refused."""

from __future__ import annotations

import base64
import io
import json
import os
import shutil
import zipfile

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from rookery_vision import convert_to_image_directory
from rookery_vision.errors import ImageExceedsLimitError, InvalidDatasetError, NotLabeledDatasetError
from rookery_vision.formats.image_directory import ImageDirectory
from tests.vision.pictures import folder_of, read_json, save


@pytest.fixture
def convert(tmp_path):
    def run(source):
        target = str(tmp_path / "converted")
        convert_to_image_directory(str(source), target)
        return ImageDirectory.read(target)

    return run


def skipped(directory):
    return {s["file"]: s["reason"] for s in read_json(directory.folder, "_skipped.json")}


class TestBirds:
    def test_labels_ids_and_names(self, image_directory):
        found = ImageDirectory.read(image_directory, is_labelled=True)
        assert found.categories == ["chickens", "turkeys"]
        assert [row.id for row in found.rows] == list(range(24))
        assert found.rows[0].file_name == "0_0.jpg"
        assert found.rows[-1].file_name == "1_23.jpg"
        assert found.labels == [0] * 12 + [1] * 12
        assert {(row.width, row.height) for row in found.rows} == {(40, 40)}

    def test_the_bytes_are_the_same(self, image_directory, birds):
        found = ImageDirectory.read(image_directory)
        with open(os.path.join(birds, "turkeys", "000.jpg"), "rb") as f:
            assert found.read_bytes(found.rows[12]) == f.read()

    def test_the_parts_of_the_folder(self, image_directory):
        schema = read_json(image_directory, "_schema.json")
        assert [c["name"] for c in schema["columns"]] == ["image", "id", "category"]
        assert schema["columns"][2]["annotation_type"] == "COCO_classification"
        assert schema["columns"][2]["categories"] == [{"id": 0, "name": "chickens"}, {"id": 1, "name": "turkeys"}]
        samples = read_json(image_directory, "_samples.json")
        picture = Image.open(io.BytesIO(base64.b64decode(samples[0]["image"])))
        assert (picture.format, picture.size, samples[0]["category"]) == ("PNG", (40, 40), "chickens")
        with open(os.path.join(image_directory, "images.lst")) as f:
            first = json.loads(f.readline())
        assert first == {
            "id": 0,
            "image_info": {"file_name": "0_0.jpg", "width": 40, "height": 40},
            "category": "chickens",
        }


class TestLayouts:
    def test_every_suffix_in_any_case(self, convert, tmp_path):
        suffixes = [".jpg", ".JPEG", ".png", ".ppm", ".bmp", ".PGM", ".tif", ".tiff", ".webp"]
        for suffix in suffixes:
            picture = Image.new("L" if suffix == ".PGM" else "RGB", (9, 7), 80)
            os.makedirs(tmp_path / "in" / "all", exist_ok=True)
            picture.save(tmp_path / "in" / "all" / ("x" + suffix))
        found = convert(tmp_path / "in")
        assert len(found.rows) == len(suffixes)
        for row in found.rows:
            assert found.decode(row).shape == (7, 9, 3)

    def test_without_categories(self, convert, tmp_path):
        save(tmp_path / "in" / "1.png")
        save(tmp_path / "in" / "2.png")
        found = convert(tmp_path / "in")
        assert found.categories is None
        assert [row.file_name for row in found.rows] == ["0.png", "1.png"]
        with pytest.raises(NotLabeledDatasetError, match="no categories"):
            ImageDirectory.read(found.folder, is_labelled=True)

    def test_what_has_no_category_is_left_out_and_listed(self, convert, tmp_path):
        folder_of(tmp_path / "in", {"dog": 2, "cat": 1})
        save(tmp_path / "in" / "stray.png")
        save(tmp_path / "in" / "dog" / "deep" / "er.png")
        (tmp_path / "in" / "dog" / "notes.txt").write_text("x")
        found = convert(tmp_path / "in")
        assert found.categories == ["cat", "dog"]
        assert len(found.rows) == 3
        assert skipped(found) == {
            "stray.png": "it is in no category's folder",
            "dog/deep/er.png": "it lies too deep",
            "dog/notes.txt": "its suffix is none of a picture",
        }

    def test_a_single_class(self, convert, tmp_path):
        folder_of(tmp_path / "in", {"dog": 3})
        assert convert(tmp_path / "in").categories == ["dog"]

    def test_wrappers_are_stepped_into(self, convert, tmp_path):
        folder_of(tmp_path / "in" / "outer" / "inner", {"dog": 1, "cat": 1})
        os.makedirs(tmp_path / "in" / "__MACOSX")
        os.makedirs(tmp_path / "in" / "outer" / ".ipynb_checkpoints")
        assert convert(tmp_path / "in").categories == ["cat", "dog"]

    def test_unreadable_files_are_left_out_and_listed(self, convert, tmp_path):
        folder_of(tmp_path / "in", {"dog": 2, "cat": 2}, ".jpg", (64, 64))
        (tmp_path / "in" / "dog" / "empty.jpg").write_bytes(b"")
        (tmp_path / "in" / "dog" / "text.png").write_bytes(b"not a picture")
        whole = (tmp_path / "in" / "cat" / "0.jpg").read_bytes()
        (tmp_path / "in" / "cat" / "cut.jpg").write_bytes(whole[: len(whole) * 2 // 3])
        found = convert(tmp_path / "in")
        assert len(found.rows) == 4
        assert set(skipped(found)) == {"dog/empty.jpg", "dog/text.png", "cat/cut.jpg"}

    def test_palettes_transparency_and_16_bits(self, convert, tmp_path):
        os.makedirs(tmp_path / "in" / "all")
        Image.new("P", (5, 4), 3).save(tmp_path / "in" / "all" / "p.png", transparency=b"\x00\x10\x20\x30")
        Image.new("RGBA", (5, 4), (1, 2, 3, 4)).save(tmp_path / "in" / "all" / "rgba.png")
        Image.new("I;16", (5, 4), 40_000).save(tmp_path / "in" / "all" / "deep.png")
        Image.new("1", (5, 4), 1).save(tmp_path / "in" / "all" / "bits.bmp")
        Image.new("CMYK", (5, 4), (1, 2, 3, 4)).save(tmp_path / "in" / "all" / "print.jpg")
        found = convert(tmp_path / "in")
        assert [found.decode(row).shape for row in found.rows] == [(4, 5, 3)] * 5

    def test_again(self, convert, image_directory):
        found = convert(image_directory)
        assert found.rows == ImageDirectory.read(image_directory).rows

    @settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
    @given(
        counts=st.dictionaries(
            st.text("abc Öß'_-.0", min_size=1, max_size=8).filter(
                lambda s: not s.startswith(".") and s.strip() == s and s != "image"
            ),
            st.integers(0, 3),
            min_size=1,
            max_size=4,
        ),
        wrappers=st.integers(0, 2),
        as_zip=st.booleans(),
    )
    def test_any_folder_of_categories(self, counts, wrappers, as_zip, tmp_path_factory):
        folder = tmp_path_factory.mktemp("any")
        base = folder_of(folder / "in" / "/".join(["wrap"] * wrappers), counts)
        source = str(folder / "in")
        if as_zip:
            source = shutil.make_archive(str(folder / "in"), "zip", source)
        expected = {name: count for name, count in counts.items() if count}
        if not expected:
            with pytest.raises(InvalidDatasetError):
                convert_to_image_directory(source, str(folder / "out"))
            return
        convert_to_image_directory(source, str(folder / "out"))
        found = ImageDirectory.read(str(folder / "out"))
        assert found.categories == sorted(expected)
        assert {c: sum(r.category == c for r in found.rows) for c in expected} == expected
        assert os.path.isdir(base)


class TestArchives:
    def test_a_zip(self, convert, birds, tmp_path):
        found = convert(shutil.make_archive(str(tmp_path / "birds"), "zip", birds))
        assert (found.categories, len(found.rows)) == (["chickens", "turkeys"], 24)
        assert [n for n in os.listdir(tmp_path) if n.startswith(".unpacking")] == []

    def test_the_first_archive_of_a_folder(self, convert, tmp_path):
        folder_of(tmp_path / "x", {"dog": 1, "cat": 1})
        os.makedirs(tmp_path / "in")
        shutil.make_archive(str(tmp_path / "in" / "b"), "gztar", tmp_path / "x")
        (tmp_path / "in" / "z.zip").write_bytes(b"not looked at")
        assert convert(tmp_path / "in").categories == ["cat", "dog"]

    def test_a_lone_class_folder_keeps_its_name(self, convert, tmp_path):
        folder_of(tmp_path / "x" / "root", {"dog": 2})
        assert convert(shutil.make_archive(str(tmp_path / "in"), "zip", tmp_path / "x")).categories == ["dog"]

    @pytest.mark.parametrize("name", ["x.rar", "x.png", "x"])
    def test_another_suffix(self, convert, tmp_path, name):
        (tmp_path / name).write_bytes(b"x")
        with pytest.raises(InvalidDatasetError, match="is no archive"):
            convert(tmp_path / name)

    def test_nothing_is_left_of_one_that_is_refused(self, convert, tmp_path):
        with zipfile.ZipFile(tmp_path / "x.zip", "w") as z:
            z.writestr("../evil.png", b"1")
        with pytest.raises(InvalidDatasetError):
            convert(tmp_path / "x.zip")
        assert set(os.listdir(tmp_path)) <= {"x.zip", "converted", "rookery's home"}
        assert not ImageDirectory.is_one(str(tmp_path / "converted"))


class TestRefused:
    def test_an_empty_folder(self, convert, tmp_path):
        os.makedirs(tmp_path / "in" / "dog")
        with pytest.raises(InvalidDatasetError, match="holds no picture"):
            convert(tmp_path / "in")

    def test_only_damaged_ones(self, convert, tmp_path):
        os.makedirs(tmp_path / "in" / "dog")
        (tmp_path / "in" / "dog" / "1.png").write_bytes(b"x")
        with pytest.raises(InvalidDatasetError, match=r"none can be read. The first, dog/1\.png"):
            convert(tmp_path / "in")

    def test_an_enormous_picture(self, convert, tmp_path, monkeypatch):
        save(tmp_path / "in" / "dog" / "1.png", (30, 20))
        monkeypatch.setenv("ROOKERY_VISION_MAX_PIXELS", "599")
        with pytest.raises(ImageExceedsLimitError, match=r"1\.png is too large: 30 × 20 pixels. Allowed: 599"):
            convert(tmp_path / "in")

    def test_one_that_is_a_bomb_for_pillow(self, convert, tmp_path):
        import struct
        import zlib

        def chunk(kind, data):
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        header = chunk(b"IHDR", struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0))
        os.makedirs(tmp_path / "in" / "dog")
        (tmp_path / "in" / "dog" / "1.png").write_bytes(b"\x89PNG\r\n\x1a\n" + header + chunk(b"IEND", b""))
        with pytest.raises(ImageExceedsLimitError):
            convert(tmp_path / "in")


class TestCoco:
    def write(self, folder, annotations, categories=({"id": 7, "name": "dog"}, {"id": 3, "name": "cat"})):
        for i in range(4):
            save(folder / "images" / f"{i}.png")
        images = [{"id": i, "file_name": f"{i}.png"} for i in range(5)]
        data = {"images": images, "annotations": annotations, "categories": list(categories)}
        (folder / "annotations.json").write_text(json.dumps(data))
        return folder

    def test_categories(self, convert, tmp_path):
        said = [(0, 7), (1, 3), (2, 7), (2, 7), (3, 3), (3, 7)]
        annotations = [
            {"id": n, "image_id": i, "category_id": c, "bbox": [1, 1, 2, 2]} for n, (i, c) in enumerate(said)
        ]
        found = convert(self.write(tmp_path / "in", annotations))
        assert [row.category for row in found.rows] == ["cat", "dog", "dog"]
        assert set(skipped(found)) == {"images/3.png", "4.png"}

    def test_captions_are_no_categories(self, convert, tmp_path):
        annotations = [{"id": 1, "image_id": 0, "caption": "a dog"}]
        assert convert(self.write(tmp_path / "in", annotations, ())).categories is None

    def test_names_do_not_lead_out(self, convert, tmp_path):
        save(tmp_path / "secret.png")
        folder = self.write(tmp_path / "in", [{"image_id": 0, "category_id": 7}])
        data = read_json(str(folder / "annotations.json"))
        data["images"] += [{"id": 9, "file_name": "../secret.png"}]
        data["annotations"] += [{"image_id": 9, "category_id": 7}, {"image_id": [1], "category_id": {}}]
        (folder / "annotations.json").write_text(json.dumps(data))
        assert len(convert(folder).rows) == 1


class TestReading:
    @pytest.mark.parametrize(
        "line", ["{", "[]", '{"id": 1}', '{"id": "x", "image_info": {"file_name": "a", "width": 1, "height": 1}}']
    )
    def test_a_damaged_list(self, image_directory, tmp_path, line):
        shutil.copytree(image_directory, tmp_path / "d")
        (tmp_path / "d" / "images.lst").write_text(line + "\n")
        with pytest.raises(InvalidDatasetError, match="is damaged"):
            ImageDirectory.read(str(tmp_path / "d"))

    @pytest.mark.parametrize("name", ["../x.png", "/etc/passwd", "a/b.png", ".."])
    def test_names_that_lead_out(self, image_directory, tmp_path, name):
        shutil.copytree(image_directory, tmp_path / "d")
        row = {"id": 1, "image_info": {"file_name": name, "width": 1, "height": 1}, "category": "turkeys"}
        (tmp_path / "d" / "images.lst").write_text(json.dumps(row))
        with pytest.raises(InvalidDatasetError, match="leads out"):
            ImageDirectory.read(str(tmp_path / "d"))

    def test_a_folder_that_is_none(self, birds):
        with pytest.raises(InvalidDatasetError, match="Connect Convert to Image Directory"):
            ImageDirectory.read(birds)
